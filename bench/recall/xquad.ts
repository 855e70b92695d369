import { basename } from 'node:path'
import { type Collection, relevantOf, type Scope } from './collection.ts'
import { filesBelow, jsonOf } from './files.ts'
import { fields, items, text } from './schema.ts'

const languages = ['en', 'zh', 'th', 'hi', 'es', 'ar', 'de', 'tr', 'ru']

/** XQuAD: 240 paragraphs in each of several languages, with questions that one paragraph answers. */
export function readXquad(folder: string): readonly Collection[] {
  const files = new Map(filesBelow(folder, '.json').map((path) => [basename(path), path]))
  return languages.flatMap((language) => {
    const path = files.get(`xquad.${language}.json`)
    if (path === undefined) return []
    return [{ name: `XQuAD ${language}`, profile: 'document' as const, scopes: [scopeOf(jsonOf(path), language)] }]
  })
}

function scopeOf(json: unknown, name: string): Scope {
  const articles = items(fields(json).data)
  const paragraphs = articles.flatMap((article, group) =>
    items(fields(article).paragraphs).map((paragraph, order) => ({ paragraph: fields(paragraph), group, order })),
  )
  const texts = paragraphs.map(({ paragraph, group, order }) => {
    return { id: `${group}:${order}`, text: text(paragraph.context), group: String(group), order, at: 0 }
  })
  const questions = paragraphs.flatMap(({ paragraph, group, order }) =>
    items(paragraph.qas).map((each) => {
      return {
        text: text(fields(each).question),
        relevant: relevantOf([`${group}:${order}`]),
        sort: 'answerable',
        now: 0,
      }
    }),
  )
  return { name, texts, questions }
}
