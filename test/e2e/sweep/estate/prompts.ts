import type { EstatePart } from './estate-part.ts'

/** The estate of prompts and their versions. */
export const prompts: EstatePart = {
  make: async ({ mark, made }) => {
    const prompt_id = await made('/v1/prompts', { name: mark, description: mark })
    for (const content of [mark, `${mark} again`])
      await made(`/v1/prompts/${prompt_id}/versions`, { messages: [{ role: 'system', content }] })
    return { prompt_id, prompt_version: '1' }
  },
  bodies: {
    'prompts.create': ({ mark }, n) => ({ name: `${mark} ${n}`, description: mark }),
    'prompts.update': ({ mark }, n) => ({ description: `${mark} ${n}` }),
    'prompt_versions.create': ({ mark }, n) => ({ messages: [{ role: 'user', content: `${mark} ${n}` }] }),
  },
  common: ['prompt_version'],
  beyondSchema: {
    'prompts.create': 'a default version exists',
    'prompts.update': 'a default version exists',
  },
}
