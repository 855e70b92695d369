import { expect, it } from 'vitest'
import { signingSecretUseCases } from '#actors/accounts/signing-secret-use-cases.ts'
import { readableBox } from '#test/support/open-services.ts'
import { callOf, openAccounts } from './account-harness.ts'

it('a signing secret signs with the one of before a rotation that is repeated after a crash', async () => {
  const { records, auth, clock, dashboard, project } = await openAccounts()
  const { projects } = auth
  const useCases = signingSecretUseCases({ records, box: readableBox, now: () => clock.now, projects })
  const [old] = (await projects.signingSecrets(project)) ?? []
  const idempotency = { cause: 'one', fingerprint: 'same', seed: null }
  const call = { ...callOf(dashboard, { project_id: project }, {}, { grace_s: 60 }), idempotency }
  await useCases['project_signing_secret.rotate'](call)
  const { signing_secret: current } = await useCases['project_signing_secret.rotate'](call)
  expect(await projects.signingSecrets(project)).toEqual([current, old])
  const next = { ...call, idempotency: { ...idempotency, cause: 'two' } }
  const { signing_secret: newest } = await useCases['project_signing_secret.rotate'](next)
  expect(await projects.signingSecrets(project)).toEqual([newest, current, old])
})
