"""One file per dialect and topic; each exports PATTERNS."""
