"""The words that say a number, a date, a unit or a negation, in several languages; all in small letters."""

from __future__ import annotations


def _words(*lists: str) -> frozenset[str]:
    return frozenset(" ".join(lists).split())


MONTHS = _words(
    "january february march april may june july august september october november december",
    "januar jänner februar märz mai juni juli oktober dezember",
    "janvier février mars avril juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre",
    "janeiro fevereiro março maio junho julho setembro outubro novembro dezembro",
    "januari februari maart mei augustus",
)
SHORT_MONTHS = _words("jan feb mar apr jun jul aug sep sept oct nov dec okt dez")
# Months that are also other words: they count beside a number, or after one of the words below.
AMBIGUOUS_MONTHS = _words("may march mars mai mei august marzo")
BEFORE_MONTHS = _words("in of by since until till from late early last next this im seit bis en de depuis")
DAYS = _words(
    "monday tuesday wednesday thursday friday saturday sunday",
    "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "yesterday today tomorrow tonight noon midnight gestern heute aujourd demain ayer mañana ieri domani",
)

# A value, and the words that say it.
_COUNTS = """
    0 zero null nul
    1 one first eins uno première premier
    2 two second twice double zwei deux dos dois duas twee
    3 three third thrice triple drei trois tres três tre drie
    4 four fourth vier quatre cuatro quattro quatro
    5 five fifth fünf cinq cinco cinque vijf
    6 six sixth sechs seis zes
    7 seven seventh sieben sept siete sette sete zeven
    8 eight eighth acht huit ocho otto oito
    9 nine ninth neun neuf nueve nove negen
    10 ten tenth zehn dix diez dieci dez tien
    11 eleven eleventh onze undici
    12 twelve twelfth dozen zwölf douze doce dodici twaalf
    13 thirteen thirteenth dreizehn treize trece
    14 fourteen fourteenth vierzehn quatorze catorce
    15 fifteen fifteenth fünfzehn quinze quince
    16 sixteen sixteenth sechzehn seize
    17 seventeen seventeenth siebzehn
    18 eighteen eighteenth achtzehn
    19 nineteen nineteenth neunzehn
    20 twenty twentieth zwanzig vingt veinte venti vinte twintig
    30 thirty dreißig trente treinta trenta dertig
    40 forty vierzig quarante cuarenta quaranta veertig
    50 fifty fünfzig cinquante cincuenta cinquanta vijftig
    60 sixty sechzig soixante sesenta sessanta
    70 seventy siebzig setenta settanta
    80 eighty achtzig ochenta ottanta
    90 ninety neunzig noventa novanta
    100 hundred hundreds hundert cien ciento cento honderd
    1000 thousand thousands tausend mille mil duizend
    1000000 million millions millionen millón millones milione milioni milhões miljoen
    1000000000 billion billions milliarde milliarden milliard milliards miliardo miliardi miljard
    1000000000000 trillion trillions
    1/2 half halves halb hälfte moitié mitad metà metade
    1/4 quarter quarters viertel
    1/3 thirds drittel
"""
NUMBERS = {word: row[0] for row in map(str.split, _COUNTS.strip().splitlines()) for word in row[1:]}

# Counts that are also other words: alone, they are no number ("the first time").
LOOSE_COUNTS = _words("one first second third half quarter double")

# Units that need no number before them, and those that are other words without one.
UNITS = _words(
    "percent kilometre kilometres kilometer kilometers metres meters centimetre centimetres centimeter",
    "centimeters millimetre",
    "millimetres millimeter millimeters miles inches kilogram kilograms kilo kilos grams gram tonnes tons",
    "litre litres liter",
    "liters gallons gallon ounces ounce hectares hectare acres acre fahrenheit celsius megabytes",
    "gigabytes terabytes kilobytes",
    "watts kilowatts megawatts gigawatts volts",
    "dollar dollars euro euros pounds cents yen yuan rupees rupee francs roubles rubles usd eur gbp jpy",
    "cny chf inr",
    "prozent kilometer meter zentimeter millimeter meilen kilogramm gramm tonnen liter hektar franken pfund",
    "kilomètres kilomètre mètres mètre grammes kilogrammes tonnes litres",
    "livres kilómetros metros gramos toneladas litros libras",
    "chilometri metri chili grammi tonnellate litri dólares dolares quilômetros quilos",
)
UNITS_AFTER_NUMBERS = _words(
    "km m cm mm nm kg g mg lb lbs oz mi ft yd l ml cl dl ha ms s h min hrs hr kb mb gb tb kbit mbit gbit",
    "w kw mw gw kwh v hz khz",
    "mhz ghz px em pt rem k c f p mile meter metre foot feet inch yard yards pound tonne ton cent",
    "seconds minute minutes hour hours day days week weeks month months year years decade decades century",
    "centuries",
    "sekunde sekunden minuten stunde stunden tag tage tagen woche wochen",
    "monat monate monaten jahr jahre jahren fuß",
    "seconde secondes heure heures jour jours semaine semaines mois an ans année années",
    "segundos minutos hora horas día días semana semanas mes meses año años",
    "secondi minuti ora ore giorno giorni settimana settimane mesi anno anni",
    "元 円 圓 원 米 公里 千米 公斤 公克 吨 噸 升 岁 歲 歳 年 天 日 週 周 个月 小时 小時 時間 分",
    "分钟 分鐘 秒 人 회 명 개 년 개월 일 시간 분 초 킬로미터 미터",
)
CURRENCY_SIGNS = "$€£¥₩₽₹¢₺₴₿฿₪₫₦￥＄"
SIGNS_AFTER = "%‰°％℃℉"

NEGATIONS = _words(
    "not no never none nothing nobody neither nor cannot without nowhere",
    "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts weder ohne nirgends",
    "ne pas jamais rien aucun aucune sans ni non",
    "nunca nada nadie ningún ninguno ninguna tampoco jamás niente nessuno nessuna nessun senza né",
    "não ninguém nenhum nenhuma sem niet geen nooit niets zonder inte ikke aldrig aldri ingen",
    "не нет никогда ничего никто без ни nigdy nic bez",
)
NEGATING_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "miss", "dé", "mé", "des", "a", "anti", "de")
NEGATING_ENDS = (("less", "ful"), ("los", "voll"), ("los", ""), ("less", ""))

# Words that are capitalised where a sentence begins, and are no names; and those that say little when they are added.
FUNCTION_WORDS = _words(
    "the a an and or but if in on at to of for from by with as is are was were be been it its he she they",
    "we i you this that",
    "these those there here his her their our your my not no so then than when while where what who which",
    "how why after before",
    "during since because although though however also even only all some many most more other such each",
    "every both new one",
    "has have had will would can could may might must shall should do does did about into over under",
    "between through against",
    "der die das den dem des ein eine einen einem einer eines und oder aber",
    "wenn in im am an auf zu zum zur von vom für mit als",
    "ist sind war waren sein es er sie wir ich ihr dies diese dieser dieses so dann auch nur alle nach",
    "vor bei seit wie was wer",
    "hat haben hatte wird werden kann auf aus durch nicht sich",
    "le la les un une des du de et ou mais si dans en sur au aux pour par avec ce cette ces il elle ils",
    "elles nous vous je qui",
    "que est sont était son sa ses leur leurs plus après avant depuis",
    "el los las unos unas y o pero si sobre al para por con este esta estos",
    "estas yo que es son su sus más después",
    "il lo gli i uno di da che è sono con per tra fra questo questa ma o e nel nella del della dei delle",
    "os as um uma do da dos das no na nos nas em não het een van op te dat die zijn voor met",
)
TITLES = _words("mr mrs ms dr prof sir lord lady king queen president herr frau monsieur madame señor señora signor signora")
# By these, a text is taken for German, where all nouns are capitalised.
GERMAN_WORDS = _words("der die das und ist nicht ein eine den dem von zu mit sich auf für im des werden wird auch")
# What a word is inflected with: working and worked are two words, not two spellings of one.
WORD_ENDINGS = _words(
    "s es ed d ing er est ly n en em e t te st ten y ies ied ier a as o os i an on in is it us um nt ent ait ons ez é ée és"
) | {""}
