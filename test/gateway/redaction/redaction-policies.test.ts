import { beforeEach, describe, expect, it } from 'vitest'
import type { Call } from '#actors/call/call.ts'
import { redactionPolicies } from '#gateway/redaction/kinds.ts'
import { redactionPolicyUseCases } from '#gateway/redaction/policy-use-cases.ts'
import { earlierPolicy, RedactionPolicies } from '#gateway/redaction/redaction-policies.ts'
import { Table } from '#records/table.ts'
import { defaultTypes } from '#specs/resources/gateway/redaction.ts'
import { callOf, secretOf } from '#test/support/call-of.ts'
import { noted } from '#test/support/called-operations.ts'
import { openServices } from '#test/support/open-services.ts'

let now = 0
let services: ConstructorParameters<typeof RedactionPolicies>[0]

/** `prj_new` was created with redaction by default, all others before that default. */
const projects = {
  settings: (project: string) => ({
    ...{ organization: 'org_a', name: 'p', allowedOrigins: [], redactsByDefault: project === 'prj_new' },
  }),
}

let node: RedactionPolicies
let otherNode: RedactionPolicies

beforeEach(async () => {
  const { records } = await openServices()
  now = 1_763_745_600_000
  services = { records, projects, now: () => now }
  node = new RedactionPolicies(services)
  otherNode = new RedactionPolicies(services)
})

const call = <B>(body: B, project?: string): Call<Record<never, never>, Record<never, never>, B> =>
  callOf({}, {}, body, secretOf(project))

const useCases = () => noted(redactionPolicyUseCases(node))
const read = (project?: string) => useCases()['redaction_policy.get'](call(undefined, project))
const change = (body: Parameters<ReturnType<typeof useCases>['redaction_policy.update']>[0]['body']) =>
  useCases()['redaction_policy.update'](call(body))

const untouched = {
  enabled: false,
  types: defaultTypes,
  apply_to: ['input', 'tool_arguments', 'embeddings', 'speech', 'logs'],
  restore: true,
  phone_region: 'US',
  updated_at: null,
}

describe('the redaction policy of a project', () => {
  it('redacts restorable places in a new project and nothing in an older one', async () => {
    expect(await read('prj_new')).toEqual({
      ...untouched,
      enabled: true,
      apply_to: ['input', 'tool_arguments', 'logs'],
    })
    expect(await node.policyOf('prj_new')).toMatchObject({
      ...{ input: true, toolArguments: true, embeddings: false, speech: false },
    })
    expect(await node.policyOf('prj_a')).toBeNull()
  })

  it('can be disabled in a new project', async () => {
    await useCases()['redaction_policy.update'](call({ enabled: false }, 'prj_new'))
    expect(await node.policyOf('prj_new')).toBeNull()
    expect(await read('prj_new')).toMatchObject({ enabled: false, apply_to: ['input', 'tool_arguments', 'logs'] })
  })

  it('applies an older stored input target to embeddings and speech, too', async () => {
    const { targets_apart: _, ...data } = { ...earlierPolicy, enabled: true, apply_to: ['input', 'logs'] as const }
    await new Table(services.records, redactionPolicies, () => now).insert({ id: 'rdp_b', project: 'prj_b', data })
    expect(await node.policyOf('prj_b')).toMatchObject({ input: true, embeddings: true, speech: true })
    expect(await read('prj_b')).toMatchObject({ apply_to: ['input', 'embeddings', 'speech', 'logs'] })
    await useCases()['redaction_policy.update'](call({ apply_to: ['input', 'logs'] }, 'prj_b'))
    expect(await node.policyOf('prj_b')).toMatchObject({ input: true, embeddings: false, speech: false })
  })

  it('redacts only logs in an older project until it is changed', async () => {
    expect(await read()).toEqual(untouched)
    expect(await node.policyOf('prj_a')).toBeNull()
    expect(node.forLog('ada@example.com')).toBe('[EMAIL_1]')
  })

  it('is changed field by field with unique and sorted lists, and belongs to one project', async () => {
    await change({ enabled: true })
    const changed = await change({ types: ['phone', 'email', 'phone'], restore: false })
    expect(changed).toEqual({
      ...untouched,
      enabled: true,
      types: ['email', 'phone'],
      restore: false,
      updated_at: '2025-11-21T17:20:00.000Z',
    })
    expect(await read()).toEqual(changed)
    expect(await read('prj_b')).toEqual(untouched)
    expect(await node.policyOf('prj_b')).toBeNull()
  })

  it('takes effect at once on its own node and within a second on other nodes', async () => {
    expect([await node.policyOf('prj_a'), await otherNode.policyOf('prj_a')]).toEqual([null, null])
    await change({ enabled: true, types: ['email'] })
    const policy = await node.policyOf('prj_a')
    expect(policy?.redact(['ada@example.com, +1 415 555 2671']).texts).toEqual(['[EMAIL_1], +1 415 555 2671'])
    expect(otherNode.policyOf('prj_a')).toBeNull()
    now += 1000
    expect(await otherNode.policyOf('prj_a')).not.toBeNull()
  })

  it('is available synchronously for a project in constant use', async () => {
    await change({ enabled: true })
    await node.policyOf('prj_a')
    expect(node.policyOf('prj_a')).not.toBeInstanceOf(Promise)
  })

  it('redacts no requests without types or places', async () => {
    await change({ enabled: true, types: [] })
    expect(await node.policyOf('prj_a')).toBeNull()
    await change({ types: ['email'], apply_to: ['logs'] })
    expect(await node.policyOf('prj_a')).toBeNull()
    await change({ apply_to: ['logs', 'input'] })
    expect(await node.policyOf('prj_a')).toMatchObject({ input: true, toolArguments: false })
  })

  it.each([
    [{ apply_to: ['input' as const] }, 'apply_to'],
    [{ phone_region: 'ZZ' }, 'phone_region'],
  ])('refuses %j and stays unchanged', async (body, param) => {
    await expect(change({ enabled: true, ...body })).rejects.toMatchObject({
      code: 'invalid_field',
      details: { param },
    })
    expect(await read()).toEqual(untouched)
  })
})
