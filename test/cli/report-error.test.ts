import { describe, expect, it } from 'vitest'
import { reportError } from '../../src/cli/report-error.js'
import { SkeinError } from '../../src/model/index.js'

const report = (error: unknown, { debug = false, json = false } = {}) => reportError(error, { debug, json })

describe('an error, as the user sees it', () => {
  it('is one line: what happened, then what to do', () => {
    const error = new SkeinError('session-not-found', 'No session matches "abc"', 'Try: skein sessions list')
    expect(report(error)).toEqual({ exitCode: 1, line: 'skein: No session matches "abc". Try: skein sessions list' })
  })

  it('puts no full stop behind an id, because people double-click ids', () => {
    const error = new SkeinError('session-exists', 'There is a session 0f3c9a12', 'Use another id')
    expect(report(error).line).toBe('skein: There is a session 0f3c9a12 - Use another id')
  })

  it('ends with 2 when what was typed is wrong and with 1 when it could not be done', () => {
    expect(report(new SkeinError('bad-time', 'm', 'n')).exitCode).toBe(2)
    expect(report(new SkeinError('usage', 'm', 'n')).exitCode).toBe(2)
    expect(report(new SkeinError('disk-full', 'm', 'n')).exitCode).toBe(1)
  })

  it('is called a bug when nobody foresaw it, with exit code 70 and no stack', () => {
    const { exitCode, line } = report(new TypeError('x is not a function'))
    expect(exitCode).toBe(70)
    expect(line).toBe('skein: This is a bug in Skein: x is not a function - set SKEIN_DEBUG=1 for the stack')
  })

  it('shows the stack, and what caused it, when asked for', () => {
    const cause = new Error('disk on fire')
    const { line } = report(new SkeinError('disk-full', 'No space', 'Free some', { cause }), { debug: true })
    expect(line).toContain('report-error.test.ts')
    expect(line).toContain('Caused by: Error: disk on fire')
  })

  it('carries nothing into the terminal that came from data', () => {
    expect(report(new SkeinError('bad-id', 'bad \x1b[2J id', 'n')).line).not.toContain('\x1b')
    expect(report(new Error('\x1b]0;x\x07')).line).not.toContain('\x1b')
  })

  it('has its details on lines of their own, each made safe', () => {
    const error = new SkeinError('agent-died', 'web/a did not start', 'Look', { details: ['one\x1b[2J', 'two'] })
    expect(report(error).line).toBe('skein: web/a did not start - Look\n  one\\x1b[2J\n  two')
  })

  it('is one document on one line with --json', () => {
    const error = new SkeinError('agent-died', 'web/a did not start', 'Look', { details: ['one\u009b'] })
    const { exitCode, line = '' } = report(error, { json: true })
    expect(exitCode).toBe(1)
    expect(line).not.toMatch(/[\n\u009b]/)
    const facts = { code: 'agent-died', message: 'web/a did not start', next: 'Look', details: ['one\u009b'] }
    expect(JSON.parse(line)).toEqual({ error: facts })
    const bug = report(new TypeError('x is not a function'), { json: true })
    expect(bug.exitCode).toBe(70)
    expect(JSON.parse(bug.line ?? '')).toMatchObject({ error: { code: 'bug', message: 'x is not a function' } })
  })

  it('is silent when the reader of our output went away', () => {
    expect(report(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))).toEqual({ exitCode: 0, line: undefined })
  })
})
