import { beforeEach, describe, expect, it } from 'vitest'
import type { Call } from '#actors/call/call.ts'
import { redactionPolicyUseCases } from '#gateway/redaction/policy-use-cases.ts'
import { RedactionPolicies } from '#gateway/redaction/redaction-policies.ts'
import { piiTypes } from '#specs/resources/gateway/redaction.ts'
import { callOf, secretOf } from '#test/support/call-of.ts'
import { noted } from '#test/support/called-operations.ts'
import { openHouse } from '#test/support/open-house.ts'

let now = 0
let node: RedactionPolicies
let otherNode: RedactionPolicies

beforeEach(async () => {
  const { records } = await openHouse()
  now = 1_763_745_600_000
  node = new RedactionPolicies({ records, now: () => now })
  otherNode = new RedactionPolicies({ records, now: () => now })
})

const call = <B>(body: B, project?: string): Call<Record<never, never>, Record<never, never>, B> =>
  callOf({}, {}, body, secretOf(project))

const useCases = () => noted(redactionPolicyUseCases(node))
const read = (project?: string) => useCases()['redaction_policy.get'](call(undefined, project))
const change = (body: Parameters<ReturnType<typeof useCases>['redaction_policy.update']>[0]['body']) =>
  useCases()['redaction_policy.update'](call(body))

const untouched = {
  enabled: false,
  types: piiTypes,
  apply_to: ['input', 'tool_arguments', 'logs'],
  restore: true,
  phone_region: 'US',
  updated_at: null,
}

describe('the policy of a project', () => {
  it('redacts logs and nothing else until it is changed', async () => {
    expect(await read()).toEqual(untouched)
    expect(await node.policyOf('prj_a')).toBeNull()
    expect(node.forLog('ada@example.com')).toBe('[EMAIL_1]')
  })

  it('is changed field by field, each list once and in order, and is of its project alone', async () => {
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

  it('is gone by at once on the node that changed it, and within a second on the others', async () => {
    expect([await node.policyOf('prj_a'), await otherNode.policyOf('prj_a')]).toEqual([null, null])
    await change({ enabled: true, types: ['email'] })
    const policy = await node.policyOf('prj_a')
    expect(policy?.redact(['ada@example.com, +1 415 555 2671']).texts).toEqual(['[EMAIL_1], +1 415 555 2671'])
    expect(otherNode.policyOf('prj_a')).toBeNull()
    now += 1000
    expect(await otherNode.policyOf('prj_a')).not.toBeNull()
  })

  it('answers without waiting for a project in steady use', async () => {
    await change({ enabled: true })
    await node.policyOf('prj_a')
    expect(node.policyOf('prj_a')).not.toBeInstanceOf(Promise)
  })

  it('redacts nothing on the way to providers when it names no type or no place', async () => {
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
  ])('refuses %j and changes nothing', async (body, param) => {
    await expect(change({ enabled: true, ...body })).rejects.toMatchObject({
      code: 'invalid_field',
      details: { param },
    })
    expect(await read()).toEqual(untouched)
  })
})
