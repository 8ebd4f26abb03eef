"""Rules as data: one YAML per rule family, each rule with examples and counter-examples, and their loader."""
