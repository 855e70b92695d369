/** Month names in order, in lower case, with every form that occurs in dates; forms are separated by `|`. */
const names = [
  'january february march april may june july august september october november december',
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
  'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro',
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
  'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre',
  'januar februar märz april mai juni juli august september oktober november dezember',
  'januari februari maart april mei juni juli augustus september oktober november december',
  'ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık',
  'январь|января февраль|февраля март|марта апрель|апреля май|мая июнь|июня июль|июля август|августа сентябрь|сентября октябрь|октября ноябрь|ноября декабрь|декабря',
]

/**
 * Month number, 0 to 11, by lower-case name, in nine languages (specs/decisions/0127-retrieval.md).
 * The platform's `Intl` has these names too, but reading them took a tenth of a first search.
 */
export const monthNames: ReadonlyMap<string, number> = new Map(
  names.flatMap((ofLanguage) =>
    ofLanguage.split(' ').flatMap((forms, month) => forms.split('|').map((form) => [form, month] as const)),
  ),
)
