import { describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { codeIn } from '#specs/errors/wire-errors.ts'
import { isSecretKeyRow, secretKeyRows } from '#specs/interface-rows.ts'
import { principals, serve } from './serving.ts'

const declared: readonly Operation[] = Object.values(operations)
const rowOf = ({ method, paths }: Operation): string | undefined =>
  [...secretKeyRows].find((row) => paths.some((path) => row === `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`))
const rows = declared.filter(({ method, paths }) => paths.some((path) => isSecretKeyRow(method, path)))
const { send } = serve(rows, Object.fromEntries(rows.map(({ id }) => [id, () => Promise.reject(new Error('reached'))])))

const { secret_key, agent_key, client_token, dashboard } = principals
const credentials: Readonly<Record<string, Principal>> = {
  ...{ secret_key, agent_key, client_token, dashboard },
  agent_public_key: { ...agent_key, keyType: 'public' },
  'client_token without permissions': { ...client_token, permissions: [] },
}

describe('a row that requires a secret key', () => {
  it.each(rows)('$id refuses every other credential with secret_key_required', async (operation) => {
    const { access, envelope, method } = operation
    const wrong = Object.entries(credentials).filter(([, { kind }]) => !access.kinds.includes(kind))
    for (const [name, as] of wrong) {
      const target = operation.paths[0].replaceAll(/\{\w+\}/g, 'some_id')
      const { status, json } = await send({ method, target, as, headers: { 'sec-fetch-site': 'same-origin' } })
      const { error } = Object(json)
      expect([name, status, error?.code ?? error]).toEqual([name, 403, codeIn(envelope, 'secret_key_required')])
    }
    expect(wrong.length).toBeGreaterThan(2)
  })

  it('is the row of an operation, each of them', () => {
    const served = new Set(rows.map(rowOf))
    expect([...secretKeyRows].filter((row) => !served.has(row))).toEqual([])
    expect(rows.length).toBeGreaterThan(60)
  })
})
