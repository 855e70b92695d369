import type { Steps } from '#outgoing/shares/in-shares.ts'
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

/** An invoice as CSV (RFC 4180), a line a step: a head, a line for each of its lines, and one of totals. */
export function* invoiceCsv({ lines, totals }: Invoice): Steps<string> {
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

/** First characters by which spreadsheets take a text for a formula, full-width ones too, with what they skip before it. */
const formula = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r]/u

/**
 * Text that a spreadsheet would take for a formula stands behind an apostrophe. What a reader may take for the end of a cell
 * or of the file stands in quotes (`;`, of which some make columns) or is replaced (NUL, byte order marks).
 */
const cell = (value: string | number | null): string => {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const text = value.replaceAll(/[\0\ufeff\ufffe]/g, '\ufffd')
  const plain = formula.test(value) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text
  return /[",;\t\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
