"""What a site hands over: made of its assessment, within its rules, attacked before it leaves."""
