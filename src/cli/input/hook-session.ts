import { readHookMessage, sessionOfEnvironment } from '../../lifecycle/index.js'
import type { SessionId } from '../../model/index.js'
import type { Cli } from '../command.js'

/** The session that a hook's message names. */
export const hookSession = (message: string | undefined): SessionId | undefined =>
  readHookMessage(message ?? '').session

export const environmentSession = ({ daemon }: Pick<Cli, 'daemon'>): SessionId | undefined =>
  sessionOfEnvironment(daemon.env)
