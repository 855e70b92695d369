import {
  isAhv,
  isCnp,
  isDated,
  isJmbg,
  isKennitala,
  isMyNumber,
  isNhsNumber,
  isNric,
  isPersonnummer,
  isRut,
  isSecuriteSociale,
  isSnils,
  isSvnr,
  isTaj,
  isTckn,
  isTfn,
} from './check-digits.ts'
import { isIdentityCard, isLuhn, isTaxId } from './checks.ts'

/** An id of a country. */
export interface NationalId {
  /** Cheap pre-check that matches wherever `shape` or `after` may match; most texts fail it. */
  readonly hint: RegExp
  /** Global pattern, bounded by characters that are neither letters nor digits. */
  readonly shape: RegExp
  /** Validates the check digits. @param plain upper-case letters and digits only. @param written as it stands in the text. */
  readonly checks?: ((plain: string, written: string) => boolean) | undefined
  /** Words of which one has to precede the number; for ids whose shape is a plain number. */
  readonly after?: RegExp
  /** Whether orders and the like have numbers of this shape. */
  readonly isLikeOrders?: true
}

type Checks = NationalId['checks']

const tax =
  (locale: string): Checks =>
  (id) =>
    isTaxId(id, locale)

const card =
  (locale: string): Checks =>
  (id) =>
    isIdentityCard(id, locale)

const writtenCard =
  (locale: string): Checks =>
  (_, written) =>
    isIdentityCard(written, locale)

const edge = (shape: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}_]|\\d[.-])${shape}(?![\\p{L}\\p{N}_]|[.-]\\d)`, 'giu')

/** An id whose shape or check digits no other number has. */
const byShape = (shape: string, hint: RegExp, checks?: Checks): NationalId => ({ hint, shape: edge(shape), checks })

/** The same for one that orders and articles are numbered like. */
const likeOrders = (...id: Parameters<typeof byShape>): NationalId => ({ ...byShape(...id), isLikeOrders: true })

/** Ids that need no word before them. */
export const shaped: readonly NationalId[] = [
  // Spain: DNI and NIE
  byShape('(?:\\d{8}|\\d{2}\\.\\d{3}\\.\\d{3}|[XYZ]-?\\d{7})-?[A-Z]', /\d{3}-?[A-Z]/i, tax('es-ES')),
  // Italy: codice fiscale
  byShape('[A-Z]{6}\\d{2}[A-Z]\\d{2}[A-Z]\\d{3}[A-Z]', /\d[A-Z]\d{2}[A-Z]\d{3}/i, tax('it-IT')),
  // Brazil: CPF
  byShape('\\d{3}\\.\\d{3}\\.\\d{3}-\\d{2}', /\d{3}\.\d{3}\.\d{3}-/, tax('pt-BR')),
  // Switzerland: AHV number
  byShape('756[. ]?\\d{4}[. ]?\\d{4}[. ]?\\d{2}', /756/, isAhv),
  // Finland: henkilötunnus
  byShape('\\d{6}[-+A-F]\\d{3}[\\dA-Y]', /\d[-+A-F]\d{3}[\dA-Y]/i, writtenCard('FI')),
  // Belgium: national register number
  byShape('\\d{2}\\.\\d{2}\\.\\d{2}-\\d{3}\\.\\d{2}', /\d\.\d{2}\.\d{2}-\d/, tax('fr-BE')),
  // Czechia and Slovakia: birth number
  byShape('\\d{6}/\\d{3,4}', /\d\/\d{3}/, tax('cs-CZ')),
  // Russia: insurance account
  byShape('\\d{3}-\\d{3}-\\d{3}[ -]\\d{2}', /\d{3}-\d{3}-\d{3}/, isSnils),
  // China, Taiwan, Hong Kong
  byShape('\\d{17}[\\dX]', /\d{17}/, card('zh-CN')),
  likeOrders('[A-Z][12]\\d{8}', /[12]\d{8}/, card('zh-TW')),
  byShape('[A-Z]{1,2}\\d{6}\\([\\dA]\\)', /\d\(/, writtenCard('zh-HK')),
  // Singapore
  byShape('[STFGM]\\d{7}[A-Z]', /\d[A-Z]/i, isNric),
  // Korea: the last digit checks nothing since 2020
  likeOrders('\\d{6}-[1-8]\\d{6}', /\d-[1-8]\d{6}/, isDated),
  // Thailand
  byShape('\\d-\\d{4}-\\d{5}-\\d{2}-\\d', /\d-\d{4}-\d{5}/, card('TH')),
  // Chile: RUT
  byShape('\\d{1,2}\\.\\d{3}\\.\\d{3}-[\\dK]', /\d\.\d{3}\.\d{3}-[\dK]/i, isRut),
  // Argentina: CUIL
  byShape('(?:2[03457]|3[034])-\\d{8}-\\d', /[23]\d-\d{8}-\d/, tax('es-AR')),
  // Mexico: CURP
  byShape('[A-Z]{4}\\d{6}[HMX][A-Z]{5}[A-Z\\d]\\d', /\d[HMX][A-Z]{5}/i, (id) => isDated(id.slice(4))),
  // United Kingdom: national insurance number
  byShape(
    '(?![DFIQUV])[A-Z](?![DFIOQUV])[A-Z] ?\\d{2} ?\\d{2} ?\\d{2} ?[A-D]',
    /\d{2} ?\d{2} ?\d{2} ?[A-D]/i,
    (id) => !/^(?:BG|GB|NK|KN|TN|NT|ZZ)/.test(id),
  ),
  // France: numéro de sécurité sociale
  byShape(
    '[12] ?\\d{2} ?(?:0[1-9]|1[0-2]|[2-4]\\d) ?(?:\\d{2}|2[AB]) ?\\d{3} ?\\d{3} ?\\d{2}',
    /[12] ?\d{2} ?\d{2} ?\d[\dAB]/i,
    isSecuriteSociale,
  ),
]

/** Words before an id, its shape and its check; `capitals` for those that are ordinary words in small letters. */
type Named = readonly [words: string, shape: string, checks?: Checks, only?: 'capitals']

/** Three groups of three digits. */
const nine = '\\d{3}[ -]?\\d{3}[ -]?\\d{3}'

const latin: readonly Named[] = [
  ['CPF', '\\d{11}', tax('pt-BR')],
  [
    'steuer\\p{L}*(?:[- ]?(?:id|nr|nummer|identifikationsnummer))?|identifikationsnummer|idnr|tin|tax id',
    '\\d{2} ?\\d{3} ?\\d{3} ?\\d{3}',
    tax('de-DE'),
  ],
  ['sozialversicherungs\\p{L}*|rentenversicherungs\\p{L}*|sv-?(?:nr|nummer)', '\\d{2} ?\\d{6} ?[A-Z] ?\\d{3}'],
  ['sozialversicherungs\\p{L}*|sv-?(?:nr|nummer)', '\\d{4} ?\\d{6}', isSvnr],
  ['PESEL\\p{L}*', '\\d{11}', card('PL')],
  ['BSN|burgerservicenummer|sofinummer', nine, tax('nl-NL')],
  ['aadhaar|aadhar|uidai|आधार', '\\d{4}[ -]?\\d{4}[ -]?\\d{4}', card('IN')],
  ['NHS', '\\d{3}[ -]?\\d{3}[ -]?\\d{4}', isNhsNumber],
  ['UTR', '\\d{10}'],
  ['ITIN', '9\\d{2}[ -]?\\d{2}[ -]?\\d{4}'],
  ['SIN|NAS', nine, isLuhn, 'capitals'],
  ['social insurance', nine, isLuhn],
  ['TFN|tax file number', nine, isTfn],
  ['medicare', '\\d{4} ?\\d{5} ?\\d'],
  ['personn(?:ummer|r)|pers\\.? ?nr|samordningsnummer', '(?:19|20)?\\d{6}[-+]?\\d{4}', isPersonnummer],
  ['CPR(?:-?(?:nr|nummer))?|personnummer', '\\d{6}-?\\d{4}', isDated],
  ['fødselsnummer|fnr|personnummer|d-nummer', '\\d{6} ?\\d{5}', card('NO')],
  ['kennitala|kt', '\\d{6}-?\\d{4}', isKennitala],
  [
    'rijksregister\\p{L}*|registre national|numéro national|nationaal nummer|insz|niss',
    '\\d{2}\\.?\\d{2}\\.?\\d{2}[ -]?\\d{3}[ .]?\\d{2}',
    tax('fr-BE'),
  ],
  ['NIF|contribuinte', nine, tax('pt-PT')],
  ['PPSN?|pps number', '\\d{7}[A-W][A-IW]?', tax('en-IE')],
  ['OIB', '\\d{11}', tax('hr-HR')],
  ['JMBG|EMŠO|EMSO|ЈМБГ|ЕМБГ', '\\d{13}', isJmbg],
  ['CNP|cod numeric personal', '\\d{13}', isCnp],
  ['EGN|ЕГН', '\\d{10}', tax('bg-BG')],
  ['rodn[ée]\\p{L}* č[íi]s\\p{L}*|r\\.? ?č', '\\d{9,10}', tax('cs-CZ')],
  ['TAJ', '\\d{3}[ -]?\\d{3}[ -]?\\d{3}', isTaj],
  ['adóazonosító\\p{L}*', '\\d{10}', tax('hu-HU')],
  ['AMKA|ΑΜΚΑ', '\\d{11}', isLuhn],
  ['AFM|ΑΦΜ', '\\d{9}', tax('el-GR')],
  ['isikukood\\p{L}*|asmens kod\\p{L}*', '\\d{11}', tax('et-EE')],
  ['personas kod\\p{L}*', '\\d{6}-?\\d{5}'],
  ['T\\.? ?C\\.?(?: kimlik)?|kimlik|TCKN', '\\d{11}', isTckn],
  ['РНОКПП|ІПН|ідентифікаційн\\p{L}* \\p{L}*', '\\d{10}', tax('uk-UA')],
  ['ИНН', '\\d{10}(?:\\d{2})?'],
  ['СНИЛС', '\\d{11}', isSnils],
  ['паспорт\\p{L}*', '\\d{2} ?\\d{2} ?\\d{6}'],
  ['ת\\.? ?ז|תעודת זהות|te?udat ze?hut', '\\d{9}', card('he-IL')],
  ['RSA ID|SA ID|south african id|id number', '\\d{13}', (digits) => isDated(digits) && isLuhn(digits)],
  ['RUT', '\\d{7,8}-?[\\dK]', isRut],
  ['RUN', '\\d{7,8}-?[\\dK]', isRut, 'capitals'],
  ['CUI[LT]', '\\d{11}', tax('es-AR')],
  ['RFC', '[A-ZÑ&]{4}\\d{6}[A-Z\\d]{3}', (id) => isDated(id.slice(4))],
  ['c[ée]dula', '\\d{10}', isLuhn],
]

const unspaced: readonly Named[] = [
  ['マイナンバー|個人番号', '\\d{4}[ -]?\\d{4}[ -]?\\d{4}', isMyNumber],
  ['주민등록번호', '\\d{6}-?[1-8]\\d{6}', isDated],
  ['บัตรประชาชน', '\\d{13}', card('TH')],
]

const after = (list: string, only?: 'capitals'): RegExp =>
  new RegExp(`(?<!\\p{L})(?:${list})(?!\\p{L})[^\\n]{0,24}$`, only === undefined ? 'iu' : 'u')

const afterUnspaced = (list: string): RegExp => new RegExp(`(?:${list})[^\\n]{0,12}$`, 'iu')

const hintOf = (list: string): RegExp => new RegExp(list, 'iu')

/** Ids that are plain numbers, and need a word before them. */
export const named: readonly NationalId[] = [
  ...latin.map(([list, shape, checks, only]) => ({
    ...{ hint: hintOf(list), shape: edge(shape), checks },
    after: after(list, only),
  })),
  ...unspaced.map(([list, shape, checks]) => ({
    ...{ hint: hintOf(list), shape: edge(shape), checks },
    after: afterUnspaced(list),
  })),
]

/** Any word that an id may follow; only their literal beginnings, since most texts have none. */
export const anyWord = new RegExp(
  `(?<![a-z])(?:${[...latin, ...unspaced].map(([list]) => list.replaceAll(/ ?\\p\{L\}\*/g, '')).join('|')})`,
  'i',
)
