/** Tables whose column `tool` names the program whose log it is; elsewhere it names a tool that the program called. */
const TABLES = new Set(['ledger_calls', 'ledger_cells', 'ledger_holders', 'ledger_logs', 'history_logs', 'text_logs'])

/** Whether a column holds a name of ours, and no word that anybody said. */
export const isProgramName = (table: string, column: string): boolean => column === 'tool' && TABLES.has(table)
