import { readHookMessage, sessionOfEnvironment } from '../../lifecycle/index.js'
import type { SessionId } from '../../model/index.js'
import type { Cli } from '../command.js'

/** The session that a hook's message names, else the one that the environment names. */
export const hookSession = (message: string | undefined, { daemon }: Pick<Cli, 'daemon'>): SessionId | undefined =>
  readHookMessage(message ?? '').session ?? sessionOfEnvironment(daemon.env)
