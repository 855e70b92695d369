import { DocumentRefused } from '../document-refused.ts'
import { parseMarkup } from '../parse-markup.ts'
import type { Parts } from './zipped-parts.ts'

type Handler = Parameters<typeof parseMarkup>[1]

/**
 * Parses a part of an Office document. The format has no document type declarations, which could define entities.
 *
 * @throws {DocumentRefused}, and {Error} for elements that are nested too deeply.
 */
export const readXml = (xml: string, handler: Handler): void =>
  parseMarkup(
    xml,
    {
      ...handler,
      onprocessinginstruction: (name) => {
        if (name.toLowerCase() === '!doctype') throw new DocumentRefused('declares_entities')
      },
    },
    { xmlMode: true, decodeEntities: true },
  )

/** Returns the targets of the relationships of a part, by id, as paths in the archive. */
export const relationsOf = (parts: Parts, part: string): ReadonlyMap<string, string> => {
  const slash = part.lastIndexOf('/') + 1
  const found = new Map<string, string>()
  readXml(parts.get(`${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`) ?? '', {
    onopentag: (name, { Id, Target, TargetMode }) => {
      if (localName(name) === 'Relationship' && Id !== undefined && Target !== undefined && TargetMode !== 'External')
        found.set(Id, pathFrom(part, Target))
    },
  })
  return found
}

/** Returns the path in the archive to which a link in a part leads. */
export const pathFrom = (part: string, link: string): string => {
  const names = link.startsWith('/') ? [] : part.split('/').slice(0, -1)
  for (const name of link.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return names.join('/')
}

/** Returns the name of an element without its prefix, which each document chooses. */
export const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

/** Returns the title in the properties of a document; null for none. */
export const titleIn = (parts: Parts): string | null => {
  let isTitle = false
  let title = ''
  readXml(parts.get(propertiesPath) ?? '', {
    onopentag: (name) => {
      isTitle = localName(name) === 'title'
    },
    ontext: (text) => {
      if (isTitle) title += text
    },
    onclosetag: () => {
      isTitle = false
    },
  })
  return title.trim() || null
}

/** Path of the properties of an Office document. */
export const propertiesPath = 'docProps/core.xml'
