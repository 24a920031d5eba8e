import { describe, expect, it } from 'vitest'
import { ModelServer } from './model-server/model-server.js'
import { Pane } from './pane.js'
import { Scratch } from './scratch.js'
import { REAL_TOOLS } from './tools/index.js'

describe.each(REAL_TOOLS)('$name $version with our model', (tool) => {
  it('starts without a question, is heard by the model and shows what it says', async () => {
    await using server = await ModelServer.start({
      rules: [
        { when: /hold/, steps: [{ gate: 'hold', text: 'Held and released.' }] },
        { when: /hello/, steps: [{ text: 'Hello from the model.' }] },
      ],
    })
    using scratch = new Scratch(tool.name)
    const pane = new Pane(scratch, { argv: tool.argv, env: tool.setUp(scratch, server) })
    await pane.shows(tool.ready)
    await pane.submit('hello there')
    await pane.shows(/Hello from the model\./)
    await pane.submit('please hold')
    await server.arrival('hold')
    expect(pane.text).not.toContain('Held and released')
    server.release('hold')
    await pane.shows(/Held and released\./)
    expect(server.requests.at(-1)?.prompts).toEqual(['hello there', 'please hold'])
    expect(server.unknown).toEqual([])
  })
})
