import { eventsFeed } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { feedLine } from '../../views/event-line.js'

export const feed = operationCommand(eventsFeed, {
  name: 'events feed',
  examples: [
    ['skein events feed', 'What happened lately'],
    ['skein events feed --since 24h --json', 'The last day, for a program'],
  ],
  view: ({ entries }, screen) => entries.map((entry) => feedLine(entry, screen)).join('\n'),
})
