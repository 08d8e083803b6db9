"""One file per fault; each exports RULE."""
