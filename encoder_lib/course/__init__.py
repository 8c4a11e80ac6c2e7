"""The code of the course: a folder for each lesson, and `kit`, which the lessons share. Nothing outside imports it."""
