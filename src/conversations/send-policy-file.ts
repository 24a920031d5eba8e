import { z } from 'zod'
import { SkeinError } from '../model/index.js'
import type { SendPolicyConfig } from './send-policy.js'

const Decision = z.enum(['allow', 'deny'])
const Rule = z.strictObject({
  match: z
    .strictObject({
      channel: z.string().optional(),
      chatType: z.enum(['dm', 'direct', 'group', 'channel']).optional(),
      keyPrefix: z.string().optional(),
    })
    .optional(),
  action: Decision.optional(),
})
const Policy = z.strictObject({ default: Decision.optional(), rules: z.array(Rule).optional() })
const Whole = z.looseObject({ session: z.looseObject({ sendPolicy: Policy }) })

/** Reads a policy, alone or inside a whole configuration. A misspelled rule is an error: it would allow what was to be denied. */
export function parseSendPolicy(text: string, name: string): SendPolicyConfig {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw badPolicy(name, (error as Error).message)
  }
  const whole = Whole.safeParse(value)
  const read = whole.success ? Policy.safeParse(whole.data.session.sendPolicy) : Policy.safeParse(value)
  if (!read.success) throw badPolicy(name, z.prettifyError(read.error).replaceAll('\n', ' '))
  return read.data as SendPolicyConfig // JSON has no undefined, which is all the two types differ in
}

const badPolicy = (name: string, what: string): SkeinError =>
  new SkeinError(
    'bad-config',
    `${name} is not a send policy: ${what}`,
    'It looks like {"default":"allow","rules":[{"match":{"channel":"discord"},"action":"deny"}]}',
  )
