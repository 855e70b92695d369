import { describe, expect, it } from 'vitest'
import type { Call, Principal } from '#actors/call/call.ts'
import { speakerOf } from '#actors/call/speaker.ts'
import { operations } from '#actors/capabilities.ts'
import { permissions } from '#specs/access.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { JsonSchema } from '#specs/dsl/schema.ts'
import { type CallerKind, type ReservedField, speakers, speakersOf } from '#specs/field-access.ts'
import { serverRunTools } from '#specs/tools.ts'
import { takesForms } from '#test/specs/sample-form.ts'
import { sampleOf } from '#test/specs/samples.ts'
import { principals, serve } from './serving.ts'

/** Every operation × every credential × every field of its body: no test here is written for one of them. */

const withBody = Object.values<Operation>(operations).filter(
  (operation) => operation.body !== null && !takesForms(operation) && !operation.access.kinds.includes('public'),
)

const credentials: Readonly<Record<CallerKind, Principal>> = {
  secret_key: principals.secret_key,
  agent_secret_key: principals.agent_key,
  agent_public_key: { ...principals.agent_key, keyType: 'public' },
  client_token: { ...principals.client_token, permissions },
  dashboard: principals.dashboard,
}

let reached: readonly ReservedField[] | null = null
const record = async (call: Call<unknown, unknown, unknown>) => {
  reached = call.reserved ?? []
  throw new Error('reached')
}
const { send } = serve(withBody, Object.fromEntries(withBody.map(({ id }) => [id, record])))

interface Setting {
  readonly field: string
  /** Type of the list item that is set; null for a field that is not such a list. */
  readonly itemType: string | null
  readonly value: unknown
}

/** Every field of a body with a value for it; for a list of typed items, one setting per type. */
const settingsOf = ({ body }: Operation): readonly Setting[] =>
  Object.entries(body?.json.properties ?? {}).flatMap(([field, schema]): readonly Setting[] => {
    const branches = (schema.items?.anyOf ?? schema.items?.oneOf ?? []).filter((branch) => typeOf(branch) !== null)
    if (branches.length === 0) return [{ field, itemType: null, value: sampleOf(schema) }]
    return branches.map((branch) => ({ field, itemType: typeOf(branch), value: [sampleOf(branch)] }))
  })

const typeOf = ({ properties }: JsonSchema): string | null => {
  const { type } = properties ?? {}
  const [name] = type?.enum ?? [type?.const]
  return typeof name === 'string' ? name : null
}

const required = ({ body }: Operation): Record<string, unknown> => {
  const names = body?.json.required ?? []
  return Object.fromEntries(names.map((name) => [name, sampleOf(body?.json.properties?.[name] ?? {})]))
}

const cases = withBody.flatMap((operation) =>
  settingsOf(operation).map((setting) => ({ name: `${operation.id} ${setting.field}`, operation, setting })),
)

/** Outcome that the declaration defines for one setting by one credential. */
const expected = ({ fields }: Operation, { field, itemType }: Setting, speaker: CallerKind) => {
  const rules = fields.filter(
    (rule) =>
      rule.field === field &&
      (rule.itemTypes === undefined || (itemType !== null && rule.itemTypes.includes(itemType))) &&
      !rule.by.includes(speaker),
  )
  return {
    refused: rules.some(({ unlessLeave }) => unlessLeave === undefined),
    reserved: rules.map((rule) => rule.field),
  }
}

const request = (operation: Operation, speaker: CallerKind, { field, value }: Setting) => {
  reached = null
  return send({
    method: operation.method,
    target: operation.paths[0].replace(/\{\w+\}/g, 'some_id'),
    as: credentials[speaker],
    headers: {
      ...{ host: 'agents.example', 'sec-fetch-site': 'same-origin' },
      // users are named only together with a tenant, which test/transport/api/reached-tenant.test.ts tests
      ...(speaker === 'agent_secret_key' && field !== 'tenant_id' && { 'x-tenant-id': 'ten_1' }),
    },
    body: { ...required(operation), [field]: value },
  })
}

describe('the permission to set a field', () => {
  it.each(cases)('of $name belongs to the declared credentials', async ({ operation, setting }) => {
    for (const speaker of speakers) {
      const { status, text } = await request(operation, speaker, setting)
      const verdict = expected(operation, setting, speaker)
      if (!speakersOf(operation.access).includes(speaker)) expect(status, speaker).toBe(403)
      else if (verdict.refused) expect([status, text], speaker).toEqual([403, expect.stringContaining(setting.field)])
      else
        expect(
          reached?.map(({ field }) => field),
          `${speaker} ${text}`,
        ).toEqual(verdict.reserved)
    }
  })

  it('is not given to public keys and client tokens for tools that this server runs', () => {
    const open = cases.filter(({ setting }) => serverRunTools.includes(setting.itemType ?? ''))
    expect(open.map(({ name }) => name)).toContain('sessions.turns tools')
    for (const { operation, setting } of open)
      for (const speaker of ['agent_public_key', 'client_token'] as const)
        if (speakersOf(operation.access).includes(speaker))
          expect(expected(operation, setting, speaker).refused, operation.id).toBe(true)
  })

  it('depends on the credential alone', () => {
    for (const speaker of speakers) expect(speakerOf(credentials[speaker])).toBe(speaker)
    expect(speakerOf(principals.public)).toBeNull()
  })
})

describe('the roles of members', () => {
  const open = Object.values<Operation>(operations).filter(({ access }) => access.kinds.includes('dashboard'))

  it('allow a member to read, and to change nothing but its own sign-in, the access of its apps and its saved views', () => {
    const changed = open.filter(({ method, access }) => method !== 'GET' && access.role === 'member')
    expect(changed.map(({ id }) => id).sort()).toEqual([
      'auth.change_password',
      'auth.end_other_sessions',
      'auth.logout',
      'auth_sessions.delete',
      'knowledge_bases.search',
      'memory.search',
      'oauth_consents.create',
      'oauth_consents.preview',
      'oauth_grants.delete',
      'oidc_sign_in.link',
      'saved_views.create',
      'saved_views.delete',
      'saved_views.update',
      'second_factor.confirm',
      'second_factor.disable',
      'second_factor.enrol',
      'second_factor.recovery_codes',
      'vector_stores.search',
    ])
  })

  it('allow an approver to decide and review approvals and use waiting browser jobs, and nothing else beyond a member', () => {
    const approvers = open.filter(({ access }) => access.role === 'approver').map(({ id }) => id)
    expect(approvers.toSorted()).toEqual([
      ...['action_reviews.comment', 'action_reviews.update', 'actions.approve', 'actions.reject'],
      ...['browser_jobs.cancel', 'browser_jobs.continue', 'browser_jobs.input', 'browser_jobs.live'],
    ])
  })

  it.each(open)('are enforced by $id', async (operation) => {
    const weakest = ['member', 'approver', 'admin', 'owner'].indexOf(operation.access.role ?? 'member')
    for (const [rank, role] of (['member', 'approver', 'admin', 'owner'] as const).entries()) {
      const received = await every.send({
        method: operation.method,
        target: operation.paths[0].replace(/\{\w+\}/g, 'some_id'),
        as: { ...principals.dashboard, role },
        headers: { 'sec-fetch-site': 'same-origin' },
      })
      expect([role, received.status === 403]).toEqual([role, rank < weakest])
    }
  })

  const every = serve(open, Object.fromEntries(open.map(({ id }) => [id, async () => ({})])))
})
