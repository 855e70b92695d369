import { expect, it } from 'vitest'
import { png } from '#test/gateway/simulated/image-bytes.ts'
import { newSession, openWorld, turn } from '../sessions/harness.ts'
import { addProject, exported, imported, openPlace } from './moving.ts'

it('a project that is moved has the images of its turns byte for byte, also one whose bytes are text', async () => {
  const [here, there] = [await openPlace(), await openPlace()]
  await addProject(here)
  const world = await openWorld({ storage: here.storage })
  const session = await newSession(world)
  const images = [png(640, 480), Buffer.from(`GIF89a${'a'.repeat(100)}`)]
  const urls = images.map((bytes, at) => `data:image/${at === 0 ? 'png' : 'gif'};base64,${bytes.toString('base64')}`)
  await turn(world, session, { input: urls.map((image_url) => ({ type: 'input_image', image_url })) })
  await world.runtime.drain(0)
  await imported(there, (await exported(here)).file)
  const moved = await openWorld({ storage: there.storage, scripts: [{ text: ['Yes'] }] })
  await turn(moved, session, { input: 'And now?' })
  expect(moved.provider.requests[0]?.messages[0]).toMatchObject({
    parts: urls.map((url) => ({ type: 'image_url', image_url: { url } })),
  })
  await moved.runtime.drain(0)
})
