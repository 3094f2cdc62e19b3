"""What each number of a text or an argument rests on: the outputs and texts of one conversation, and the verdicts."""
