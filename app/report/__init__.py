"""Turn evidence and diagnosis into a document, with personal details replaced."""
