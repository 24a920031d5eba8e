import { LOG_TOOLS } from '../../src/tools/index.js'
import { describeToolLog } from '../contracts/tool-log.js'

const WHOLE = 'each log is one document, written anew each time'
const EXCEPT: Record<string, Record<string, string>> = {
  plain: {
    'tells the same whether a log is read at once or as it grows': WHOLE,
    'reads a log anew when it was rewritten or cut short': WHOLE,
  },
  opencode: {
    'tells the same whether a log is read at once or as it grows':
      'rows, not lines: test/tools/opencode.test.ts has it',
    'reads a log anew when it was rewritten or cut short': 'rows, not lines: test/tools/opencode.test.ts has it',
  },
}

for (const tool of LOG_TOOLS) describeToolLog(tool, { except: EXCEPT[tool.name] ?? {} })
