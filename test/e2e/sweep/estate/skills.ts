import type { EstatePart } from './estate-part.ts'

/** The estate of skills, their versions and imports. */
export const skills: EstatePart = {
  make: async ({ mark, made }) => {
    const skill_id = await made('/v1/skills', { name: mark, description: mark })
    await made(`/v1/skills/${skill_id}/versions`, { version: '1.0.0', content: mark })
    return { skill_id, path: 'SKILL.md' }
  },
  bodies: {
    'skills.create': ({ mark }, n) => ({ name: `${mark} ${n}`, description: mark }),
    'skill_versions.create': ({ mark }, n) => ({ version: `${n + 2}.0.0`, content: mark }),
    'skill_imports.create': ({ mark, id }, n) => ({ skill_id: id('skill_id'), text: `Be ${mark} ${n}.` }),
  },
  common: ['path'],
  beyondSchema: {
    'skill_imports.create': 'it has one of text, url and archive',
    'skill_versions.create': 'a content in base64 is base64',
  },
}
