"""English words."""

from __future__ import annotations

from goldlabel.sources.fragments.lexicon import Entry, Lexicons, entries, with_kinds

_WOMEN = entries(
    """Alice, Anna, Beatrice, Carla, Clara, Daisy, Diana, Edith, Elena, Emma, Fiona, Grace, Hannah, Helen, Irene,
    Julia, Karen, Laura, Lucy, Maria, Martha, Nina, Nora, Olivia, Paula, Rachel, Rosa, Sarah, Sophie, Vera"""
)
_MEN = entries(
    """Adam, Albert, Andrew, Ben, Carlos, Daniel, David, Edward, Eric, Felix, Frank, George, Harold, Henry, Hugo,
    Ivan, Jack, James, Kevin, Leo, Lewis, Martin, Oscar, Paul, Peter, Robert, Simon, Thomas, Victor, Walter"""
)


def _verb_phrases(text: str) -> tuple[Entry, ...]:
    """Read ``base/past/object``; what is done can be done by several people, each for themselves."""
    return tuple(
        {"base": f"{verb['base']} {verb['object']}", "past": f"{verb['past']} {verb['object']}"}
        for verb in entries(text, "base", "past", "object")
    )


_ACTIONS = _verb_phrases(
    """read/read/the report, sign/signed/the letter, watch/watched/the film, visit/visited/the museum
    clean/cleaned/the kitchen, paint/painted/the fence, repair/repaired/the bicycle, water/watered/the plants
    feed/fed/the horses, wash/washed/the windows, lock/locked/the gate, open/opened/the parcel
    count/counted/the tickets, call/called/the hotel, answer/answered/the question, check/checked/the timetable
    copy/copied/the list, move/moved/the table, pack/packed/the suitcase, load/loaded/the van
    sweep/swept/the yard, stir/stirred/the soup, taste/tasted/the cake, slice/sliced/the bread
    study/studied/the map, test/tested/the engine, close/closed/the shop, order/ordered/the paint
    praise/praised/the choir, leave/left/the party, catch/caught/the early train, hear/heard/the speech
    attend/attended/the concert, draw/drew/the bridge, photograph/photographed/the tower, mend/mended/the coat
    iron/ironed/the shirts, carry/carried/the boxes, sort/sorted/the post, translate/translated/the poem
    record/recorded/the song, print/printed/the posters, measure/measured/the room, heat/heated/the water
    cut/cut/the grass, pick/picked/the apples, climb/climbed/the hill, cross/crossed/the river
    enter/entered/the contest, pass/passed/the exam, finish/finished/the puzzle, book/booked/the seats
    write/wrote/the summary, correct/corrected/the essay, empty/emptied/the bins, light/lit/the fire
    lay/laid/the table, borrow/borrowed/the ladder, return/returned/the keys, hide/hid/the presents
    polish/polished/the silver, decorate/decorated/the hall, fold/folded/the towels, peel/peeled/the potatoes
    mop/mopped/the floor, dust/dusted/the shelves, proofread/proofread/the article, tour/toured/the castle
    rehearse/rehearsed/the dance, memorise/memorised/the poem, rake/raked/the leaves, shake/shook/the rugs
    sharpen/sharpened/the knives, chop/chopped/the firewood, weigh/weighed/the parcels, label/labelled/the jars
    inspect/inspected/the roof, greet/greeted/the visitors, thank/thanked/the mayor, search/searched/the attic
    whistle/whistled/the tune, recite/recited/the verses, tidy/tidied/the cellar, plant/planted/the bulbs
    milk/milked/the cows, brush/brushed/the dog, chase/chased/the geese, oil/oiled/the hinges
    admire/admired/the view"""
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TIMES = (
    *({"self": f"on {day}{part}"} for day in _DAYS for part in ("", " morning", " afternoon", " evening")),
    *entries(
        """yesterday, last night, this morning, yesterday morning, yesterday afternoon, yesterday evening,
        on Christmas Eve, on New Year's Day, on Easter Sunday, on Boxing Day, on Midsummer's Eve, at noon yesterday"""
    ),
)
_GROUPS = entries(
    """students, nurses, farmers, painters, sailors, teachers, drivers, cooks, guards, musicians, gardeners, clerks,
    engineers, dancers, pilots, tailors, waiters, librarians, porters, singers, plumbers, lawyers, guests, volunteers"""
)
_MODIFIERS = entries("new, young, local, married, foreign, retired, left-handed, tall")
_DIMENSIONS = entries(
    """taller/shorter/tall/tallest/shortest, older/younger/old/oldest/youngest, heavier/lighter/heavy/heaviest/lightest
    stronger/weaker/strong/strongest/weakest, richer/poorer/rich/richest/poorest, faster/slower/fast/fastest/slowest
    louder/quieter/loud/loudest/quietest, braver/more timid/brave/bravest/most timid""",
    "more",
    "less",
    "base",
    "most",
    "least",
)
_TEENS = """zero, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen,
    fifteen, sixteen, seventeen, eighteen, nineteen"""
_NUMBERS = (
    *entries(_TEENS),
    *(
        {"self": tens + (f"-{ones['self']}" if ones["self"] != "zero" else "")}
        for tens in ("twenty", "thirty")
        for ones in entries(_TEENS)[:10]
    ),
)
_OBJECTS = entries(
    """apples, books, chairs, cups, pencils, stamps, tickets, candles, lamps, plates, oranges, eggs, postcards,
    umbrellas, keys, towels, baskets, blankets, hats, shirts, spoons, vases, bottles, batteries"""
)
_DEALS = entries(
    """buy/bought, sell/sold, order/ordered, borrow/borrowed, receive/received, find/found, lose/lost, pack/packed,
    collect/collected, unpack/unpacked, deliver/delivered, store/stored""",
    "base",
    "past",
)
_PLACES = entries(
    """at the office, at the hotel, at the station, in the library, in the workshop, at the harbour, at the school,
    in the garden, at the market, in the village, on the island, at the theatre"""
)
_BELONGINGS = entries(
    """umbrella, bicycle, camera, guitar, ladder, laptop, tent, suitcase, dictionary, raincoat, torch, map, drill,
    violin, notebook, lawnmower, canoe, sewing machine, telescope, sleeping bag"""
)
_TRANSITIVES = entries(
    """criticise/criticised/criticised, praise/praised/praised, invite/invited/invited
    recommend/recommended/recommended, photograph/photographed/photographed, interview/interviewed/interviewed
    interrupt/interrupted/interrupted, remind/reminded/reminded, recognise/recognised/recognised
    follow/followed/followed, mock/mocked/mocked, persuade/persuaded/persuaded, thank/thanked/thanked
    help/helped/helped, warn/warned/warned, rescue/rescued/rescued, deceive/deceived/deceived
    stop/stopped/stopped, comfort/comforted/comforted, blame/blamed/blamed, choose/chose/chosen
    ignore/ignored/ignored, see/saw/seen, forgive/forgave/forgiven""",
    "base",
    "past",
    "part",
)
_PORTRAYALS = entries(
    """see/saw, draw/drew, photograph/photographed, paint/painted, notice/noticed, describe/described, film/filmed,
    sketch/sketched""",
    "base",
    "past",
)


def _article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _nouns(text: str) -> tuple[Entry, ...]:
    return tuple(
        {"a": _article(noun["one"]), "pl": noun["pl"], "key": noun["one"].replace(" ", "_").replace("-", "_")}
        for noun in entries(text, "one", "pl")
    )


_KINDS = with_kinds(
    (kind, _nouns(nouns))
    for kind, nouns in zip(
        _nouns(
            """flower/flowers, bird/birds, insect/insects, fruit/fruits, tool/tools, vehicle/vehicles, boat/boats
            piece of furniture/pieces of furniture, musical instrument/musical instruments, tree/trees, fish/fish
            garment/garments"""
        ),
        (
            "rose/roses, tulip/tulips, lily/lilies, daisy/daisies, orchid/orchids, poppy/poppies",
            "sparrow/sparrows, eagle/eagles, owl/owls, swan/swans, raven/ravens, heron/herons",
            "beetle/beetles, bee/bees, ant/ants, butterfly/butterflies, dragonfly/dragonflies, moth/moths",
            "apple/apples, pear/pears, banana/bananas, lemon/lemons, peach/peaches, mango/mangoes",
            "hammer/hammers, saw/saws, spade/spades, drill/drills, chisel/chisels, screwdriver/screwdrivers",
            "lorry/lorries, bus/buses, bicycle/bicycles, tractor/tractors, tram/trams, motorbike/motorbikes",
            "canoe/canoes, ferry/ferries, yacht/yachts, raft/rafts, gondola/gondolas, trawler/trawlers",
            "chair/chairs, wardrobe/wardrobes, sofa/sofas, desk/desks, bookcase/bookcases, bench/benches",
            "violin/violins, trumpet/trumpets, flute/flutes, cello/cellos, harp/harps, guitar/guitars",
            "oak/oaks, birch/birches, willow/willows, pine/pines, maple/maples, poplar/poplars",
            "carp/carp, salmon/salmon, trout/trout, tuna/tuna, pike/pike, cod/cod",
            "coat/coats, skirt/skirts, shirt/shirts, jacket/jackets, scarf/scarves, waistcoat/waistcoats",
        ),
        strict=True,
    )
)
_SCENERY = tuple(
    {"a": _article(noun["self"]), "key": noun["self"]}
    for noun in entries(
        """bridge, lighthouse, castle, mountain, waterfall, windmill, fountain, statue, tower, cliff, tunnel, well,
        barn, ruin, lake, cloud"""
    )
)
_COLOURS = tuple(
    {"self": colour["self"], "a": _article(colour["self"])}
    for colour in entries("red, blue, green, yellow, black, white, grey, brown, orange, purple")
)
_MATERIALS = tuple(
    {**material, "a": _article(material["self"])}
    for material in entries(
        """wooden/made of wood, glass/made of glass, plastic/made of plastic, metal/made of metal,
        porcelain/made of porcelain, leather/made of leather""",
        "self",
        "is",
    )
)
_WARES = tuple(
    {**ware, "a": _article(ware["self"])}
    for ware in entries(
        """box/boxes, tray/trays, bowl/bowls, frame/frames, lamp/lamps, case/cases, bracelet/bracelets, button/buttons,
        mask/masks, ornament/ornaments, figurine/figurines, bottle/bottles, toy/toys, pendant/pendants, sign/signs,
        container/containers""",
        "self",
        "pl",
    )
)
_ACHIEVED = entries(
    "managed, remembered, was forced, took the trouble, found the time, had the courage, took the time, was made"
)
_KEPT = entries("did not forget, did not fail, did not neglect, did not omit")
_FAILED = entries(
    """failed, forgot, refused, declined, neglected, was unable, did not manage, did not remember,
    did not find the time, did not have the courage"""
)
_WISHED = entries("wanted, planned, hoped, promised, intended, agreed, offered, was asked, was told, prepared")
_KNEW = entries(
    """knew/did not know, realised/did not realise, noticed/did not notice, discovered/did not discover,
    found out/did not find out, was aware/was not aware, remembered/did not remember, was glad/was not glad""",
    "past",
    "neg",
)
_THOUGHT = entries("believed, thought, guessed, suspected, claimed, said, assumed, hoped, supposed, insisted")
_MISTOOK = entries("wrongly believed, wrongly assumed, falsely claimed, mistakenly thought, wrongly concluded")

ENGLISH: Lexicons = {
    "person": (*_WOMEN, *_MEN),
    "woman": _WOMEN,
    "man": _MEN,
    "action": _ACTIONS,
    "time": _TIMES,
    "group": tuple({"pl": group["self"]} for group in _GROUPS),
    "modifier": _MODIFIERS,
    "dimension": _DIMENSIONS,
    "number": _NUMBERS,
    "object": tuple({"pl": thing["self"]} for thing in _OBJECTS),
    "deal": _DEALS,
    "place": _PLACES,
    "belonging": _BELONGINGS,
    "transitive": _TRANSITIVES,
    "portrayal": _PORTRAYALS,
    **_KINDS,
    "scenery": _SCENERY,
    "colour": _COLOURS,
    "material": _MATERIALS,
    "ware": _WARES,
    "achieved": _ACHIEVED,
    "kept": _KEPT,
    "failed": _FAILED,
    "wished": _WISHED,
    "knew": _KNEW,
    "thought": _THOUGHT,
    "mistook": _MISTOOK,
}
