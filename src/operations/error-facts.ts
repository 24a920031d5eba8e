import type { ErrorCode, SkeinError } from '../model/index.js'

/** An error as every face shows it. */
export interface ErrorFacts {
  code: ErrorCode
  message: string
  next: string
  details?: readonly string[]
}

export function errorFacts({ code, message, next, details }: SkeinError): ErrorFacts {
  return { code, message, next, ...(details.length > 0 ? { details } : {}) }
}
