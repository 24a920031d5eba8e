/** Set on a server that we started: on anyone else's nothing but our own hooks and our own session is touched. */
export const OURS = '@skein_server'
