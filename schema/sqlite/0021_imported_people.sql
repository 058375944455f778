-- Who is named in what was imported into a project: users without keys, known by the id that they have in the installation
-- that they came from. They go with the project.
CREATE TABLE imported_people (
  project_id TEXT NOT NULL REFERENCES projects (id),
  source_id  TEXT NOT NULL,
  user_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  PRIMARY KEY (project_id, source_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX imported_people_by_user ON imported_people (user_id);
