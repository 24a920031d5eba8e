/**
 * Commands that are no operation, each with what of the caller it needs. Everything else that a user can do is in `OPERATIONS`. What
 * they are made of can be done by operations as well: read a session, stop an agent.
 */
export const COMMAND_ONLY: Readonly<Record<string, string>> = {
  start: "Gives the program the environment of the caller's shell, and may take the terminal over",
  'seance talk': "Gives the program that it starts the environment of the caller's shell",
  restart: "Gives the program the environment of the caller's shell",
  replay: "Plays in the caller's terminal; export gives the same document",
  statusline: 'Runs on every prompt of a shell, and opens no home; GET /v1/agents has the same segment',
  prime: 'Is about the process that runs it: its environment, its standard input, the processes above it',
  hook: 'Answers the hook of a program on its standard output, within a time limit',
  'hooks install': "Edits settings of the caller's own programs, which the caller's environment names",
  'hooks uninstall': "Edits settings of the caller's own programs, which the caller's environment names",
  'hooks status': "Reads settings of the caller's own programs, which the caller's environment names",
  completion: "Prints a script for the caller's shell",
  'daemon start': 'Starts the process that would run it',
  'daemon stop': 'Ends the process that would run it, also one that no longer answers; POST /v1/stop asks for it',
  'daemon status': 'Tells whether the process that would run it lives; GET /v1/health is its own word',
  'daemon logs': 'Reads the log of the process that would run it, also when that has died',
  'notify test': 'Has its notices sent by the daemon, which is started for it: POST /v1/notify',
  'profile delete': 'Ends the daemon that would run it, and deletes the home that it has open',
}
