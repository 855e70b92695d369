import type { Language } from './languages.ts'
import { porterStem } from './porter.ts'

/** Suffixes and prefixes of a language, and the minimum number of letters that must remain. */
interface Endings {
  readonly suffixes: readonly string[]
  readonly prefixes?: readonly string[]
  readonly min: number
  /** Maximum number of suffixes removed in succession. */
  readonly rounds?: number
}

const list = (text: string): readonly string[] => text.split(/\s+/).toSorted((a, b) => b.length - a.length)

const endings: Readonly<Partial<Record<Language, Endings>>> = {
  es: {
    suffixes:
      list(`amientos imientos amiento imiento aciones uciones adoras adores ancias logías encias idades acion ucion
      adora ador ancia logía encia idad ivas ivos iva ivo osas osos osa oso ables ibles able ible istas ista mente ando iendo
      ados adas idos idas ado ada ido ida aban aba ían ía aron ieron ará arán erá erán irá irán aste iste ar er ir es as os a
      o e`),
    min: 3,
  },
  pt: {
    suffixes:
      list(`amentos imentos amento imento adores adora ador ações ção ções ância ência idades idade ivas ivos iva ivo
      osas osos osa oso áveis íveis ável ível istas ista mente ando endo indo ados adas idos idas ado ada ido ida avam ava iam
      ia aram eram iram ará erá irá ar er ir ões ães es as os a o e`),
    min: 3,
  },
  fr: {
    suffixes:
      list(`issements issement atrices ateurs atrice ateur ations ation ements ement ances ance ences ence ités ité
      ives ifs ive if euses eux euse ables able istes iste amment emment ant ées és ée é er ir aient ait ais era eront es s e
      x`),
    min: 3,
  },
  it: {
    suffixes:
      list(`amenti imenti amento imento azioni azione atrici atore atori anze anza enze enza ità ivi ivo iva ive osi
      oso osa ose abili ibili abile ibile isti ista iste mente ando endo ati ate ato ata iti ite ito ita uti ute uto uta avano
      ava evano eva arono ere are ire i e a o`),
    min: 3,
  },
  de: {
    suffixes: list('ungen heiten keiten ung heit keit isch lich ern em en er es st e s n t'),
    min: 4,
    rounds: 2,
  },
  nl: { suffixes: list('heden heid ingen ing lijke lijk en e s t'), min: 4 },
  ru: {
    suffixes:
      list(`ившими ывшими вшими ейшими ости остью остей ость ениями ениях ение ения ением ений ания анием ание аний
      ями ами иями иях ией ием иям ого его ому ему ыми ими ых их ую юю ая яя ое ее ые ие ый ий ой ей ем ом ым им ам ям ах ях
      ов ев ет ют ут ат ят ит ла ло ли на ны но ен ал ил ел ть ться ился лась лись лся ия ья ию ью ии а е и й о у ы ь ю я`),
    min: 3,
  },
  ar: {
    prefixes: list('وال بال كال فال لل ال و'),
    suffixes: list('ها ان ات ون ين يه ية ه ة ي ا'),
    min: 3,
    rounds: 2,
  },
  hi: {
    suffixes: list('ियों ियाँ ियां ाओं ाएँ ाएं ुओं ुएँ ुएं ों ें ीं ाँ ां ता ती ते ना नी ने या यी ये ा ी े ि ो ु ू'),
    min: 2,
  },
}

/** Letters kept of a Turkish word: it can have many suffixes, and its first letters identify it well. */
const turkishLetters = 5
const longest = 40

/**
 * Returns the stem of a lower-case word by the affixes of its language. Words longer than 40 letters are only
 * truncated.
 */
export function stemOf(word: string, language: Language): string {
  if (word.length > longest) return word.slice(0, longest)
  if (/\d/.test(word)) return word
  if (language === 'en') return porterStem(word)
  if (language === 'tr') return word.slice(0, turkishLetters)
  const rules = endings[language]
  return rules === undefined ? word : withoutEndings(withoutPrefix(word, rules), rules)
}

function withoutPrefix(word: string, { prefixes = [], min }: Endings): string {
  const prefix = prefixes.find((each) => word.startsWith(each) && word.length - each.length >= min)
  return prefix === undefined ? word : word.slice(prefix.length)
}

function withoutEndings(word: string, { suffixes, min, rounds = 1 }: Endings): string {
  let stem = word
  for (let round = 0; round < rounds; round++) {
    const suffix = suffixes.find((each) => stem.endsWith(each) && stem.length - each.length >= min)
    if (suffix === undefined) return stem
    stem = stem.slice(0, -suffix.length)
  }
  return stem
}
