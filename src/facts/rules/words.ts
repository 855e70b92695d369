import { isoDateOf, monthOf, yearOf } from './calendar.ts'
import { isAbstained, isAiling, isCondition, isFaith, isFear, isMarital, isMedicine, isTrait } from './conditions.ts'

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(','))

const diets = setOf(
  'vegan,vegetarian,pescatarian,pescetarian,flexitarian,omnivore,omnivorous,keto,ketogenic,paleo,halal,kosher,gluten-free,gluten free,dairy-free,low-carb,low carb,plant-based,plant based,carnivore,fruitarian,raw,mediterranean,sugar-free,lactose-free,meat-free,everything',
)
const makes = setOf(
  'tesla,toyota,honda,ford,bmw,audi,volkswagen,vw,volvo,mercedes,mercedes-benz,porsche,fiat,renault,peugeot,citroen,citroën,opel,seat,skoda,škoda,mazda,nissan,subaru,suzuki,kia,hyundai,jeep,chevrolet,chevy,dodge,jaguar,lexus,mini,dacia,polestar,rivian,lucid,golf,civic,corolla,prius,mitsubishi,saab,bentley,ferrari,lamborghini,maserati,alfa,land,range,cadillac,buick,gmc,ram,byd,nio,smart,car,lancia,acura,infiniti,genesis,chrysler',
)
const languages = setOf(
  'english,german,french,spanish,italian,portuguese,dutch,polish,russian,ukrainian,czech,slovak,hungarian,romanian,bulgarian,greek,turkish,arabic,hebrew,persian,farsi,hindi,urdu,bengali,punjabi,tamil,telugu,mandarin,cantonese,chinese,japanese,korean,thai,vietnamese,indonesian,malay,swahili,swedish,norwegian,danish,finnish,icelandic,estonian,latvian,lithuanian,croatian,serbian,slovenian,catalan,basque,irish,welsh,latin,esperanto,tagalog,afrikaans,zulu,amharic,georgian,armenian',
)
const zones = setOf(
  'cet,cest,est,edt,cst,cdt,mst,mdt,pst,pdt,gmt,utc,bst,ist,jst,kst,aest,aedt,eet,eest,wet,msk,nzst,nzdt,hst,akst,sgt,hkt,brt',
)
const schools = setOf(
  'university,college,school,institute,academy,polytechnic,mit,eth,harvard,stanford,oxford,cambridge,yale,princeton,ucla,nyu,caltech,berkeley,conservatory,uni',
)
const activities = setOf(
  'hiking,running,swimming,cycling,climbing,bouldering,skiing,fishing,dancing,jogging,surfing,sailing,camping,kayaking,rowing,skating,snowboarding,diving,birdwatching,biking',
)
const titles = setOf('dr,dr.,doctor')
const roles = setOf(
  'nurse,chef,pilot,student,architect,doctor,surgeon,judge,cook,clerk,model,engineer,vet,intern,professor,ceo,cto,cfo,founder,freelancer,musician,politician,athlete,coach,accountant,consultant,assistant,agent,analyst,midwife,monk,priest,actress,waitress,firefighter,guard,mechanic,diplomat,soldier',
)

/** Suffixes of nouns for occupations. */
const roleEndings = ['er', 'or', 'ist', 'ian', 'eer', 'ant', 'man', 'woman']
const noRoles = setOf(
  'owner,member,lover,believer,beginner,person,fighter,human,number,person,leader,father,mother,brother,sister,foreigner,teenager,stranger,loner,survivor,early riser,native,veteran,christian,vegetarian,pescatarian,flexitarian,german,italian,american,norwegian,brazilian,canadian,australian,russian,ukrainian,indian,egyptian,woman,man,gamer,runner,smoker,non-smoker,teetotaller,user,caregiver,carer,donor,introvert,extrovert',
)

/** What people have in a conversation, and no longer after it: "a question", "a couple of quick ideas". */
const raised = setOf(
  'question,questions,idea,ideas,problem,problems,issue,issues,suggestion,suggestions,request,requests,doubt,doubts,query,queries,concern,concerns,thought,thoughts,comment,comments,favour,favor,point,guess,hunch,feeling,bug,error,errors,warning,task,chance,moment,minute,second,list,lists,dataframe,table,file,files,string,array,function,script,csv,column,columns,class,loop,query,page,document,text,sentence,paragraph,number,numbers,screenshot,variable,url,link,hurry',
)
const fillers = setOf(
  'quick,small,little,big,great,good,bad,new,few,couple,lot,lots,bunch,of,more,other,another,follow-up,simple,general,stupid,silly,technical,weird,strange,serious,slight,similar,related,real,huge,major,minor,short,brief,different,better,further',
)
const ailments = setOf('headache,hangover,fever,flu,cough,toothache,stomachache,cramp,cramps')
const isOwned = (words: readonly string[]): boolean =>
  !raised.has(words.find((word) => !fillers.has(word)) ?? '') &&
  !/^\d/.test(words[0] ?? '') &&
  !words.slice(0, 3).some((word) => ailments.has(word))

/** Slots that accept only certain words, by name. */
export const slotWords: Readonly<Record<string, (words: readonly string[]) => boolean>> = {
  abstained: isAbstained,
  condition: isCondition,
  ailing: isAiling,
  medicine: isMedicine,
  trait: isTrait,
  faith: isFaith,
  fear: isFear,
  marital: isMarital,
  diet_word: (words) => diets.has(words.join(' ')),
  car_word: (words) => words.some((word) => makes.has(word)),
  language_word: (words) => words.every((word) => languages.has(word) || word === 'and' || word === ','),
  zone: (words) =>
    words.length <= 2 && words.some((word) => zones.has(word) || /^(?:utc|gmt)[+-]\d/.test(word) || word.includes('/')),
  school_word: (words) => words.some((word) => schools.has(word)),
  activity: (words) => activities.has(words[0] ?? ''),
  doctor_word: (words) => titles.has(words[0] ?? ''),
  home_word: (words) =>
    words.length <= 4 &&
    ['house', 'flat', 'apartment', 'home', 'place', 'condo', 'studio'].includes(words.at(-1) ?? ''),
  date: (words) =>
    words.some(
      (word) =>
        monthOf(word) !== null ||
        yearOf(word) !== null ||
        isoDateOf(word) !== null ||
        /^\d{1,2}[./]\d{1,2}[./]\d{2,4}$/.test(word),
    ),
  owned: isOwned,
  n: (words) => words.length === 1 && /^\d{1,3}(?:st|nd|rd|th)?$/.test(words[0] ?? ''),
}

/** Whether words name an occupation: "paediatric nurse", "data engineer". */
export const isRole = (words: readonly string[]): boolean => {
  const last = words.at(-1) ?? ''
  if (words.length > 5 || noRoles.has(last) || last.length < 3) return false
  return roles.has(last) || (last.length > 4 && roleEndings.some((ending) => last.endsWith(ending)))
}

const peoples = setOf('german,french,dutch,greek,swiss,czech,thai,british')

/** Whether a lower-case word is a nationality. */
export const isPeople = (low: string): boolean =>
  peoples.has(low) || (low.length > 5 && ['ian', 'ese', 'ish', 'can', 'ean'].some((ending) => low.endsWith(ending)))
