"""The course's equipment: exercises, pictures, explorers, experiments. Nothing outside imports from here."""
