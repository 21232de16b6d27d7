"""What commands that sign, verify and qualify do; their options are in `trustreport.cli`."""
