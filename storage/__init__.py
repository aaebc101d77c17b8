"""The ground floor: tables and the moves between their states. Knows SQL; knows no Discord and no model."""
