import { describe, expect, it } from 'vitest'
import { type InvoiceFacts, invoiceGroupings, invoiceLines } from '#actors/usage/invoice.ts'
import { invoiceCsv } from '#actors/usage/invoice-csv.ts'
import type { RatePlanData } from '#actors/usage/kinds.ts'
import { GroupedUsage } from '#actors/usage/usage-sums.ts'
import type { Row } from '#records/schema.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'
import { type UsageSample, usageRow } from './rows.ts'

const at = Date.UTC(2026, 0, 31)

const plan = (id: string, data: Partial<RatePlanData>): Row<RatePlanData> => ({
  ...usageRow({ at }),
  id,
  data: {
    name: `plan ${id}`,
    description: null,
    markup_percent: '0',
    input_per_million_usd: '0',
    output_per_million_usd: '0',
    per_call_usd: '0',
    is_default: false,
    ...data,
  },
})

const pro = plan('rp_pro', {
  markup_percent: '12.5',
  input_per_million_usd: '2',
  output_per_million_usd: '0.3',
  per_call_usd: '0.0001',
})
const standard = plan('rp_std', { markup_percent: '100', is_default: true })

const facts: InvoiceFacts = {
  plans: new Map([
    [pro.id, pro],
    ['', standard],
  ]),
  tenants: new Map([['ten_1', 'acme']]),
}

const linesOf = (samples: readonly Omit<UsageSample, 'at'>[], given = facts) => {
  const usage = new GroupedUsage(invoiceGroupings)
  usage.add(samples.map((sample) => usageRow({ at, ...sample })))
  return atOnce(invoiceLines(usage, given))
}

describe('an invoice', () => {
  it('charges the service charge, its mark-up, tokens and calls, all exactly', () => {
    const { lines } = linesOf([
      { rate_plan_id: pro.id, input_tokens: 333, output_tokens: 7, service_charge_usd: '0.0000007' },
      { rate_plan_id: pro.id, input_tokens: 334, output_tokens: 0, service_charge_usd: '0.1' },
    ])
    expect(lines).toMatchObject([
      {
        tenant_id: 'ten_1',
        tenant_external_id: 'acme',
        installation_id: 'ins_1',
        calls: 2,
        rate_plan_id: 'rp_pro',
        rate_plan: 'plan rp_pro',
        markup_percent: '12.5',
        service_charge_usd: '0.1000007',
        markup_usd: '0.0125000875',
        token_charge_usd: '0.0013361',
        call_charge_usd: '0.0002',
        total_usd: '0.1140368875',
      },
    ])
  })

  it('charges usage without a plan by the default plan, and at its service charge if there is none', () => {
    const sample = { service_charge_usd: '0.5' }
    expect(linesOf([sample]).lines).toMatchObject([{ rate_plan_id: 'rp_std', markup_usd: '0.5', total_usd: '1' }])
    const none = { ...facts, plans: new Map() }
    expect(linesOf([sample], none).lines).toMatchObject([{ rate_plan_id: null, markup_usd: '0', total_usd: '0.5' }])
  })

  it('has a line for each tenant, agent, installation, model and plan; its totals are the sums of the lines', () => {
    const { lines, totals } = linesOf([
      { rate_plan_id: pro.id },
      { tenant: 'ten_2' },
      { agent_id: 'agt_2' },
      { installation_id: null },
      { model: 'gpt-2' },
      {},
    ])
    expect(lines).toHaveLength(6)
    expect(totals).toMatchObject({ calls: 6, service_charge_usd: '0.006', call_charge_usd: '0.0001' })
    const cents = lines.reduce((sum, { total_usd }) => sum + Math.round(Number(total_usd) * 1e9), 0)
    expect(Math.round(Number(totals.total_usd) * 1e9)).toBe(cents)
  })

  it('names a deleted tenant by its id only', () => {
    expect(linesOf([{ tenant: 'ten_gone' }]).lines).toMatchObject([{ tenant_id: 'ten_gone', tenant_external_id: null }])
  })
})

describe('an invoice as CSV', () => {
  const csvOf = (external: string): readonly string[] => {
    const given = linesOf([{}], { ...facts, tenants: new Map([['ten_1', external]]) })
    const times = { from: '', to: '', issued_at: '' }
    return atOnce(invoiceCsv({ project_id: 'prj_a', currency: 'USD', ...times, ...given })).split('\r\n')
  }

  it('has a header, the lines and the totals', () => {
    const [head = '', line = '', totals = '', end] = csvOf('acme')
    expect(end).toBe('')
    const columns = head.split(',')
    expect(columns.slice(0, 3)).toEqual(['tenant_id', 'tenant_external_id', 'agent_id'])
    expect(line.split(',')).toHaveLength(columns.length)
    expect(line.startsWith('ten_1,acme,agt_1,ins_1,openai,gpt-1,1,0,100,10,110,0,0,0,0.001,0.001,rp_std')).toBe(true)
    expect(totals.split(',')).toHaveLength(columns.length)
    expect(totals.startsWith('total,,,,,,1,0,100,10,110,0,0,0,0.001,0.001')).toBe(true)
    expect(totals.endsWith('0.002')).toBe(true)
  })

  it.each([
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['=HYPERLINK("http://evil")', `"'=HYPERLINK(""http://evil"")"`],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['+1', "'+1"],
    ['-2', '-2'],
    ['-2+cmd', "'-2+cmd"],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠SUM(A1)', "'＠SUM(A1)"],
    [' =1+1', "' =1+1"],
    ['\u200b=1+1', "'\u200b=1+1"],
    ['\ufeff=1+1', "'\ufffd=1+1"],
    ['\0=1+1', "'\ufffd=1+1"],
    ['\t=1+1', '"\'\t=1+1"'],
    ['a;=1+1', '"a;=1+1"'],
    ['a\t=1+1', '"a\t=1+1"'],
  ])('quotes %j, so that readers and spreadsheets treat it as text only', (external, cell) => {
    expect(csvOf(external).join('\r\n')).toContain(`ten_1,${cell},agt_1`)
  })
})
