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

it('a signing secret signs for its own time after its rotation, also beside four that have more left', async () => {
  const { records, auth, clock, dashboard, project } = await openAccounts()
  const { projects } = auth
  const useCases = signingSecretUseCases({ records, box: readableBox, now: () => clock.now, projects })
  const rotate = (grace_s: number) =>
    useCases['project_signing_secret.rotate'](callOf(dashboard, { project_id: project }, {}, { grace_s }))
  const made: (string | undefined)[] = []
  for (const grace_s of [400, 300, 500, 600]) made.push((await rotate(grace_s)).signing_secret)
  const { signing_secret: newest } = await rotate(60)
  expect(await projects.signingSecrets(project)).toEqual([newest, made[3], made[2], made[1], expect.any(String)])
  expect(await projects.signingSecrets(project)).not.toContain(made[0])
  clock.now += 60_000
  expect(await projects.signingSecrets(project)).toEqual([newest, made[2], made[1], expect.any(String)])
})
