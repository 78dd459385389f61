"""The machine in the chapter on kernels, driven by mouse, finger and keys, and as fast as is said."""

import math
import re

import checks
import pytest
from test_pages import SITE

PAGE = "chapters/kernel.html"
FIGURE = '[data-widget="svm-demo"]'


# where the sliders stop
DECADES = [digit * 10.0**e for e in range(-2, 4) for digit in (1, 2, 5)] + [1e4]
STEPS = {"C": DECADES, "gamma": DECADES, "degree": [1, 2, 3, 4, 5, 6, 8]}


class Demo:
    """The interactive figure on its page, and what can be read in it."""

    def __init__(self, page):
        self.page = page
        self.box = page.locator(FIGURE)
        self.plane = self.box.locator(".mc-plane")
        page.goto((SITE / PAGE).as_uri(), wait_until="load")
        self.show()
        self.solved()

    def show(self):
        for _ in range(4):  # on a phone heights are guesses until a part of the page has been seen
            self.plane.evaluate("(plane) => plane.scrollIntoView({ block: 'center' })")
            self.page.wait_for_timeout(100)

    def solved(self):
        self.page.wait_for_function(f"'milliseconds' in document.querySelector('{FIGURE}').dataset")

    def press(self, *keys):
        for key in keys:
            self.plane.press(key)
        self.solved()

    def row(self, name):
        return self.box.locator(f'.mc-stats tr:has(th:text-is("{name}")) td').inner_text()

    def points(self):
        """The numbers of circles and of squares; with more classes, of those that are there."""
        return tuple(int(number) for number in re.findall(r"\d+", self.row("points")))

    def hint(self):
        return self.box.locator(".mc-hint").inner_text()

    def summary(self):
        """What is said once the reader has been quiet for a while."""
        self.solved()
        self.page.wait_for_timeout(600)
        return self.box.locator(".mc-summary").inner_text()

    def choose(self, name):
        self.box.get_by_role("radio", name=name, exact=True).check()
        self.solved()

    def slide(self, key, value):
        slider = self.box.locator(f"[data-key={key}]")
        slider.fill(str(STEPS[key].index(value)))
        assert slider.locator("xpath=../output").inner_text() == f"{value:g}"
        self.solved()

    def place(self, x, y):
        """Where coordinates lie on the screen."""
        box = self.plane.locator("canvas").bounding_box()
        return box["x"] + (x + 1) / 2 * box["width"], box["y"] + (1 - y) / 2 * box["height"]

    def color(self, x, y):
        """Red, green and blue on the canvas."""
        return self.plane.locator("canvas").evaluate(
            """(canvas, [x, y]) => {
                const at = [((x + 1) / 2) * canvas.width, ((1 - y) / 2) * canvas.height].map(Math.round);
                return [...canvas.getContext("2d").getImageData(...at, 1, 1).data].slice(0, 3);
            }""",
            [x, y],
        )

    def picture(self):
        return self.plane.locator("canvas").evaluate("(canvas) => canvas.toDataURL()")


@pytest.fixture
def demo(browser, request):
    """On a wide screen with a mouse, or on a phone."""
    narrow = getattr(request, "param", "wide") == "phone"
    context = browser.new_context(
        viewport={"width": 390 if narrow else 1280, "height": 844},
        has_touch=narrow,
        is_mobile=narrow,
        device_scale_factor=2 if narrow else 1,
        reduced_motion="reduce",
    )
    page = context.new_page()
    ear = checks.Ear(page, SITE.as_uri())
    yield Demo(page)
    found = ear.findings()
    context.close()
    assert not any(found.values()), found


def test_keys_place_and_delete_and_undo(demo):
    demo.box.get_by_role("button", name="Clear").press("Enter")
    assert demo.points() == (0, 0)
    assert demo.summary() == "No points yet."

    demo.press("ArrowLeft", "ArrowLeft", "ArrowUp", "1")
    assert demo.hint() == "A circle at (−0.20, 0.10)."
    assert "one point is a circle" in demo.summary()
    assert "b of at least 1" in demo.summary()

    demo.press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "Shift+ArrowUp", "2")
    assert demo.hint() == "A square at (0.20, 0.12)."
    demo.choose("linear")
    demo.slide("C", 10000)
    assert demo.summary() == (
        "linear, C = 10000: 2 points, 2 support vectors (2 free, 0 at the bound), 0 training errors."
    )
    assert demo.row("norm of w").startswith("4.99")  # 2 divided by the distance

    demo.press("ArrowLeft", "ArrowLeft")
    words = r"Cross at \(0.00, 0.12\); score −0.0\d+, a square’s side, within the margin"
    assert re.match(words, demo.hint())
    demo.press("n", "n")
    assert "score −1, a square’s side" in demo.hint()
    assert demo.hint().endswith("here is a square, a free support vector.")
    demo.press("Delete")
    assert demo.points() == (1, 0)
    demo.press("u", "Control+z")
    assert demo.points() == (1, 0)
    demo.press("Backspace")
    assert demo.hint() == "No point near (0.20, 0.12)."
    demo.choose("square")
    demo.press("Enter", "Space")
    assert demo.points() == (1, 2)


@pytest.mark.ci
def test_a_mouse_places_drags_and_deletes(demo):
    mouse = demo.page.mouse
    demo.box.get_by_role("button", name="Clear").click()
    demo.show()
    mouse.click(*demo.place(-0.5, 0.2))
    assert demo.hint() == "A circle at (−0.50, 0.20)."
    demo.choose("square")
    mouse.click(*demo.place(0.5, 0.2))
    demo.solved()
    before = demo.picture()

    mouse.move(*demo.place(0.5, 0.2))
    mouse.down()
    mouse.move(*demo.place(0.2, -0.2), steps=4)
    mouse.up()
    assert demo.points() == (1, 1)
    assert demo.hint() == "The square is now at (0.20, −0.20)."
    demo.solved()
    assert demo.picture() != before

    demo.choose("delete")
    mouse.click(*demo.place(0.0, 0.9))
    assert demo.hint().startswith("No point near")
    mouse.click(*demo.place(-0.5, 0.2))
    assert demo.points() == (0, 1)
    undo = demo.box.get_by_role("button", name="Undo")
    undo.click()
    undo.click()  # the dragging
    assert demo.points() == (1, 1)
    demo.solved()
    assert demo.picture() == before
    for _ in range(3):
        undo.click()
    assert sum(demo.points()) > 10  # before all was cleared
    undo.click()
    assert demo.hint() == "Nothing to undo."


@pytest.mark.parametrize("demo", ["phone"], indirect=True)
def test_a_tap_places_and_a_swipe_scrolls(demo):
    page, before = demo.page, demo.points()
    page.touchscreen.tap(*demo.place(-0.3, 0.4))
    assert demo.points() == (before[0] + 1, before[1])
    page.wait_for_timeout(300)

    # a finger on the picture that moves up: the page goes with it, and nothing is placed
    x, y = demo.place(0.0, -0.5)
    start = page.evaluate("scrollY")
    finger = page.context.new_cdp_session(page)
    for step in range(11):
        kind = "touchMove" if step else "touchStart"
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y - 15 * step}]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(300)
    assert page.evaluate("scrollY") > start + 100
    assert demo.points() == (before[0] + 1, before[1])


@pytest.mark.ci
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_picture_follows_the_settings(demo, mode):
    demo.page.emulate_media(color_scheme=mode)
    seen = {demo.picture()}
    for name, sliders in {"linear": {"C"}, "polynomial": {"C", "degree"}, "RBF": {"C", "gamma"}}.items():
        demo.choose(name)
        enabled = demo.box.locator("[type=range]:enabled").evaluate_all(
            "(all) => all.map((s) => s.dataset.key)"
        )
        assert set(enabled) == sliders
        demo.slide("C", 0.1)
        seen.add(demo.picture())
        demo.slide("C", 100)
        seen.add(demo.picture())
    assert len(seen) >= 6


def test_the_settings_of_the_lecture(demo):
    choice = demo.box.get_by_label("As in the lecture")
    for label in ("linear, C = 1", "RBF, C = 10, γ = 10000"):
        choice.select_option(label=label)
        assert demo.summary().startswith(f"{label}: ")
    assert demo.row("training errors") == "0"  # memorised
    demo.slide("C", 0.01)
    assert choice.input_value() == ""


@pytest.mark.ci
def test_five_classes_by_keys(demo):
    two, many = (demo.box.get_by_role("radio", name=name) for name in ("two classes", "Crammer–Singer"))
    assert two.is_checked()
    demo.box.get_by_role("button", name="Clear").press("Enter")
    demo.press("ArrowLeft", "ArrowLeft", "1", *["ArrowRight"] * 4, "2")
    assert demo.row("bias b")
    assert two.is_enabled()
    demo.press("ArrowUp", "ArrowUp", "ArrowUp", "3")
    assert demo.hint() == "A triangle at (0.20, 0.30)."
    assert many.is_checked()  # there is no other machine for three
    assert two.is_disabled()
    assert "regularised" in demo.box.locator(".mc-note").inner_text()
    demo.press(*["ArrowLeft"] * 4, "4", *["ArrowUp"] * 3, "5")
    assert demo.hint() == "A wedge at (−0.20, 0.60)."
    assert demo.points() == (1, 1, 1, 1, 1)
    demo.slide("C", 100)
    assert demo.summary() == (
        "Crammer–Singer on K + 1, RBF, C = 100, γ = 5: 5 points of 5 classes, "
        "5 support vectors (5 free, 0 at the bound), 0 training errors."
    )
    biases = re.findall(r"(\w+) (−?)([\d.]+)", demo.row("biases b"))
    assert [name for name, *_ in biases] == ["circle", "square", "triangle", "diamond", "wedge"]
    assert abs(sum(float(size) * (-1 if minus else 1) for _, minus, size in biases)) < 0.003
    assert demo.row("primal value")[:5] == demo.row("dual value")[:5]
    demo.press("Shift+ArrowLeft")
    words = r"Cross at \(−0.22, 0.60\); a wedge’s side, ahead by 0.9\d+, within the margin; scores: circle "
    assert re.match(words, demo.hint())
    assert demo.hint().endswith("here is a wedge, a free support vector.")
    assert demo.box.get_by_label("Key to the picture").locator("li").count() == 6

    # when the last of the third class is gone, the machine for two comes back
    demo.press("Delete", "u", "Delete")
    assert demo.points() == (1, 1, 1, 1)
    demo.press("ArrowDown", "ArrowDown", "ArrowDown", "Delete", *["ArrowRight"] * 4, "Delete")
    assert demo.points() == (1, 1)
    assert two.is_checked()
    assert two.is_enabled()


@pytest.mark.ci
def test_two_classes_have_the_choice(demo):
    before, sizes = demo.picture(), demo.points()
    demo.choose("Crammer–Singer on K + 1")
    assert demo.summary().startswith("Crammer–Singer on K + 1, RBF, C = 10, γ = 5: 60 points of 2 classes, ")
    assert demo.points() == sizes
    circle, square = re.findall(r"(−?)([\d.]+)", demo.row("biases b"))
    assert circle[1] == square[1]
    assert circle[0] != square[0]
    assert demo.picture() != before
    demo.choose("two classes, free bias")
    assert demo.summary().startswith("RBF, C = 10, γ = 5: 60 points, ")
    assert demo.picture() == before
    assert demo.row("bias b")


@pytest.mark.ci
def test_each_class_has_a_region_of_its_color(demo):
    demo.box.get_by_label("Data").select_option(label="200 points of five classes")
    demo.slide("C", 1)
    demo.show()
    demo.page.wait_for_timeout(200)
    for c, style in enumerate(demo.page.evaluate("mcSvm.STYLES")):
        color = [int(style["color"][i : i + 2], 16) for i in (1, 3, 5)]
        tints = [[255 + (x - 255) * share for x in color] for share in (0.09, 0.2, 0.45)]
        angle = math.pi * (0.5 + 2 * c / 5)
        places = [(r * math.cos(angle), r * math.sin(angle)) for r in (0.9, 0.92, 0.94, 0.96)]
        seen = [demo.color(*place) for place in places]
        found = [max(abs(a - b) for a, b in zip(one, tint, strict=True)) for one in seen for tint in tints]
        assert min(found) < 1, (style, seen)


@pytest.mark.parametrize("demo", ["phone"], indirect=True)
def test_a_tap_places_a_third_class(demo):
    demo.box.get_by_text("diamond", exact=True).tap()
    demo.show()
    demo.page.touchscreen.tap(*demo.place(0.6, 0.8))
    assert demo.hint() == "A diamond at (0.60, 0.80)."
    assert demo.points() == (33, 27, 1)
    assert demo.summary().startswith("Crammer–Singer on K + 1")
    root = "document.documentElement"
    assert demo.page.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")


@pytest.mark.ci
def test_200_points_of_five_classes_and_a_large_cost(demo):
    """The gap closes, and no piece of work holds the page up for long: the best of three."""
    demo.box.get_by_label("Data").select_option(label="200 points of five classes")
    demo.page.evaluate(
        """() => {
            globalThis.tasks = [];
            new PerformanceObserver((list) => tasks.push(...list.getEntries().map((one) => one.duration)))
                .observe({ type: "longtask" });
        }"""
    )
    longest = []
    for cost in (500, 1000, 200):
        demo.page.evaluate("() => { tasks.length = 0; }")
        demo.slide("C", cost)
        assert re.fullmatch(r"(below 10|\d·10|10)⁻([⁶⁷⁸⁹]|¹[⁰¹²])", demo.row("relative gap"))
        longest.append(max(demo.page.evaluate("tasks"), default=0))
    assert min(longest) < 200, longest


def test_nothing_is_said_before_the_reader_comes(demo):
    live = '[aria-live], [role="status"]'
    assert demo.box.locator(".mc-summary").get_attribute("aria-live") is None
    before = demo.box.locator(live).all_inner_texts()
    demo.page.wait_for_timeout(700)
    assert demo.box.locator(live).all_inner_texts() == before
    demo.plane.focus()
    assert demo.box.locator(".mc-summary").get_attribute("aria-live") == "polite"


@pytest.mark.ci
def test_200_points_are_solved_within_100_milliseconds(demo):
    """The best of five: other programs run on this machine too."""
    demo.box.get_by_label("Data").select_option(label="200 points that overlap")
    assert sum(demo.points()) == 200
    for name, parameter in (("linear", None), ("polynomial", "degree"), ("RBF", "gamma")):
        demo.choose(name)
        for value in {"degree": (2, 8), "gamma": (0.1, 10, 1000)}.get(parameter, (None,)):
            if value:
                demo.slide(parameter, value)
            times = []
            for _ in range(5):
                for cost in (0.1, 100):
                    demo.slide("C", cost)
                times.append(float(demo.box.get_attribute("data-worked")))
                assert re.fullmatch(r"(below 10|\d·10|10)⁻([⁶⁷⁸⁹]|¹[⁰¹²])", demo.row("relative gap"))
            assert min(times) < 100, (name, value, times)


@pytest.mark.ci
@pytest.mark.parametrize("classes", [2, 3])
def test_what_takes_longer_goes_on_in_view(browser, classes):
    """On a machine that is so slow that a slice is over at once, the page answers in between."""
    context = browser.new_context(viewport={"width": 1280, "height": 844}, reduced_motion="reduce")
    context.add_init_script(
        """(() => {
            const now = performance.now.bind(performance);
            let slow = 0;
            performance.now = () => now() + 15 * (slow += 1);
        })()"""
    )
    demo = Demo(context.new_page())
    if classes == 3:
        demo.box.get_by_label("Data").select_option(label="three clouds")
    demo.choose("polynomial")
    demo.page.evaluate(
        """(selector) => {
            const figure = document.querySelector(selector);
            globalThis.gaps = [];
            new MutationObserver(() => gaps.push(figure.querySelector(".mc-stats").innerText))
                .observe(figure.querySelector(".mc-stats tbody"), { childList: true });
        }""",
        FIGURE,
    )
    demo.slide("C", 10000)
    seen = demo.page.evaluate("gaps")
    context.close()
    during = [re.search(r"relative gap\s+(\S+)", text)[1] for text in seen if "solving for" in text]
    assert len(set(during)) > 2
    assert "solved in" in seen[-1]
