"""Documents of headings, paragraphs and tables that people fill in or work through: as HTML and as DOCX."""
