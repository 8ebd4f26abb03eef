"""From a question to ranked passages: first stage, fusion, feature ranker, assembly."""
