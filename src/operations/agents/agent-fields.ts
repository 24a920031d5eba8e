import { optional, required } from '../field.js'
import { agentRef, text } from '../kind.js'

/** The agent that an operation is about. */
export const AGENT = required(agentRef, 'Address, unique suffix, title, id, or . for the current directory')

/** An answer that names the question it is for is refused when something else is asked by then. */
export const TOKEN = optional(text('token'), 'The token of the request to answer')
