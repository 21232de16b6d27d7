"""What belongs to no object: calculator, planning, exports, operations."""
