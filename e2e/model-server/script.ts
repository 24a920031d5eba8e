import { type Action, toolCall } from './actions.js'
import { type ModelRequest, positionOf } from './request.js'

/**
 * What the model says. A reply is chosen from the request alone: the first rule whose `when` matches the last prompt, and of
 * its steps the one after as many rounds of tool calls. Nothing is counted, so a retry, a resume or a fork shifts nothing.
 */
export interface Script {
  readonly rules: readonly Rule[]
  /** For prompts that no rule knows. */
  readonly fallback?: Step
}

export interface Rule {
  readonly when: RegExp
  /** The last one repeats. */
  readonly steps: readonly Step[]
}

export interface Step {
  readonly text?: string | ((request: ModelRequest) => string)
  readonly do?: readonly Action[]
  /** The reply is held until `release(name)`: the way to look at a busy agent without sleeping. */
  readonly gate?: string
  /** An HTTP error instead of a reply. */
  readonly error?: Refusal
  readonly usage?: Partial<Usage>
}

export interface Refusal {
  readonly status: number
  readonly message: string
  /** Only so often. */
  readonly times?: number
  /** What a provider says beside the message, within its `error`. */
  readonly facts?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

export interface Usage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
}

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** Text for a free-form tool, else an object. */
  readonly input: unknown
  readonly isFreeform: boolean
}

export interface Reply {
  readonly id: string
  readonly model: string
  readonly text: string
  readonly calls: readonly ToolCall[]
  readonly usage: Usage
}

/** Which step answers; `name` is the same for every request that gets this answer. */
export function chooseStep(script: Script, request: ModelRequest): { name: string; step: Step } {
  const { prompt, round } = positionOf(request)
  const at = script.rules.findIndex((rule) => rule.when.test(prompt))
  const steps = script.rules[at]?.steps ?? [script.fallback ?? { text: `No rule for: ${prompt.slice(0, 200)}` }]
  const index = Math.min(round, steps.length - 1)
  return { name: `${script.rules[at]?.when.source ?? 'fallback'}#${index}`, step: steps[index] ?? {} }
}

export function replyOf(step: Step, request: ModelRequest, id: string): Reply {
  const text = typeof step.text === 'function' ? step.text(request) : (step.text ?? '')
  const calls = (step.do ?? []).map((action, index) => toolCall(action, request.tools, `call_${id}_${index}`))
  return { id, model: request.model, text, calls, usage: { ...estimate(request, text), ...step.usage } }
}

const estimate = (request: ModelRequest, text: string): Usage => ({
  input: Math.ceil((JSON.stringify(request.messages).length + request.system.length) / 4),
  output: Math.ceil(text.length / 4) + 5,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
})
