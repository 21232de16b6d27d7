"""What all pages and lists stand on."""
