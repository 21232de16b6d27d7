"""What a site hands over: made of its assessment, held against its own rules, and attacked before it leaves."""
