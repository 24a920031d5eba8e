import { optional, required } from '../field.js'
import { agentRef, text } from '../kind.js'

/** The agent that an operation is about. */
export const AGENT = required(agentRef, 'Address, end of it, title, id, or . for here')

/** An answer that names the question it is for is refused when something else is asked by then. */
export const TOKEN = optional(text('token'), 'The wait that is answered')
