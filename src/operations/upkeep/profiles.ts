import { required } from '../field.js'
import { text } from '../kind.js'
import { operation } from '../operation.js'

export const profileList = operation({
  name: 'profile.list',
  does: 'reads',
  where: 'either',
  summary: 'List profiles',
  input: {},
  result: 'profiles',
  run: async (_, { profiles }) => ({
    profiles: (await profiles.list()).map((one) => ({ ...one, current: one.name === profiles.current })),
  }),
})

export const profileCreate = operation({
  name: 'profile.create',
  does: 'acts',
  where: 'either',
  summary: 'Create a profile',
  description: 'A profile is a separate home with its own agents, sessions, journal and index.',
  input: { name: required(text('name'), 'Its name') },
  result: 'profile',
  run: async ({ name }, { profiles }) => profiles.create(name),
})
