"""The course's equipment: a folder for each lesson, and `kit`, which they share. Nothing outside imports from here."""
