-- The latest moment that the clock of this machine was believed for, so that retention notices a clock that jumped ahead, also while
-- the server was off. Microseconds; `at` since 1970, UTC.
CREATE TABLE believed_clock (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  at     INTEGER NOT NULL,
  waited INTEGER NOT NULL -- for how long the server has run since the clock jumped ahead; 0: it is believed; negative: since it is behind
) STRICT;
