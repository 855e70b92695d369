import { describe, expect, expectTypeOf, it } from 'vitest'
import type { StreamAnswer } from '#actors/call/call.ts'
import type { UseCases, WithHeaders } from '#actors/call/use-cases.ts'
import { operations } from '#actors/capabilities.ts'
import type { BodyOf, OperationId, ParamsOf, QueryOf, ResultOf } from '#specs/index.ts'

describe('types derived from declarations', () => {
  it('follow the path, the query and the body', () => {
    expectTypeOf<ParamsOf<'sessions.turns'>>().toEqualTypeOf<{ readonly session_id: string }>()
    expectTypeOf<ParamsOf<'project_keys.rotate'>>().toEqualTypeOf<{
      readonly project_id: string
      readonly key_id: string
    }>()
    expectTypeOf<QueryOf<'sessions.list'>>().toEqualTypeOf<{
      readonly status?: 'active' | 'paused' | 'completed'
      readonly agent_id?: string
      readonly installation_id?: string
      readonly tenant_id?: string
      readonly external_user_id?: string
      readonly starting_after?: string
      readonly page: number
      readonly limit: number
    }>()
    expectTypeOf<QueryOf<'tenants.list'>['limit']>().toEqualTypeOf<number>()
    expectTypeOf<BodyOf<'sessions.approve'>['action_id']>().toEqualTypeOf<string>()
    expectTypeOf<BodyOf<'sessions.get'>>().toEqualTypeOf<undefined>()
    expect(operations['sessions.turns'].params).toEqual(['session_id'])
    expect(operations['sessions.get'].body).toBeNull()
  })

  it('make nullable fields optional in bodies and required in answers', () => {
    type Create = BodyOf<'agents.create'>
    expectTypeOf<Pick<Create, 'name' | 'description'>>().toEqualTypeOf<{
      readonly name: string
      readonly description?: string | null
    }>()
    expectTypeOf<ResultOf<'agents.get'>['description']>().toEqualTypeOf<string | null>()
    expectTypeOf<BodyOf<'project_members.create'>['password']>().toEqualTypeOf<string>()
    expect(operations['agents.create'].body?.json).toMatchObject({
      required: expect.not.arrayContaining(['description']),
    })
  })

  it('have a secret only in the answers that contain it', () => {
    expectTypeOf<ResultOf<'project_keys.create'>['key']>().toEqualTypeOf<string>()
    expectTypeOf<ResultOf<'project_keys.rotate'>['key']>().toEqualTypeOf<string>()
    expectTypeOf<ResultOf<'project_keys.delete'>>().not.toHaveProperty('key')
    expectTypeOf<ResultOf<'project_keys.list'>['data'][number]>().not.toHaveProperty('key')
    expect(operations['project_keys.create'].answer).toMatchObject({ secret: true })
    expect(operations['project_keys.list'].answer).toMatchObject({ secret: false })
  })

  it('have the return types of use-cases', () => {
    type Returned<Id extends OperationId> = Awaited<ReturnType<UseCases[Id]>>
    expectTypeOf<Returned<'sessions.turns'>>().toEqualTypeOf<StreamAnswer>()
    expectTypeOf<Returned<'auth.logout'>>().toEqualTypeOf<WithHeaders<{ readonly success: true }>>()
    expectTypeOf<Returned<'sessions.delete'>>().toEqualTypeOf<{ readonly id: string; readonly deleted: true }>()
    expectTypeOf<Returned<'tenants.list'>['next_cursor']>().toEqualTypeOf<string | null>()
    expect(operations['sessions.turns'].answer.kind).toBe('events')
    expect(operations['auth.logout'].answer).toMatchObject({ kind: 'json', withHeaders: true })
  })
})
