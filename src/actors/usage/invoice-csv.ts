import type { SlicedWork } from '#src/concurrency/run-in-slices.ts'
import type { Invoice, InvoiceLine } from './invoice.ts'

const columns = [
  'tenant_id',
  'tenant_external_id',
  'agent_id',
  'installation_id',
  'provider',
  'model',
  'calls',
  'unpriced_calls',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'characters',
  'seconds',
  'images',
  'provider_cost_usd',
  'service_charge_usd',
  'rate_plan_id',
  'rate_plan',
  'markup_percent',
  'markup_usd',
  'token_charge_usd',
  'call_charge_usd',
  'total_usd',
] as const satisfies readonly (keyof InvoiceLine)[]

/**
 * Writes an invoice as CSV (RFC 4180), one line per step: a header, a line for each of its lines, and a line of totals.
 */
export function* invoiceCsv({ lines, totals }: Invoice): SlicedWork<string> {
  const written = [lineOf(columns)]
  for (const line of lines) {
    written.push(lineOf(columns.map((column) => line[column])))
    yield
  }
  const total: Readonly<Record<string, string | number>> = { tenant_id: 'total', ...totals }
  written.push(lineOf(columns.map((column) => total[column] ?? '')))
  return written.join('')
}

const lineOf = (cells: readonly (string | number | null)[]): string => `${cells.map(cell).join(',')}\r\n`

/**
 * Texts that spreadsheets take for a formula, by their first character, full-width variants included, after anything
 * that they skip.
 */
const formula = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r]/u

/**
 * Escapes a cell. Text that a spreadsheet would take for a formula is prefixed with an apostrophe. Characters that a
 * reader may take for the end of a cell or file are quoted (`;`, which some readers split at) or replaced (NUL, byte
 * order marks).
 */
const cell = (value: string | number | null): string => {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const text = value.replaceAll(/[\0\ufeff\ufffe]/g, '\ufffd')
  const plain = formula.test(value) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text
  return /[",;\t\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
