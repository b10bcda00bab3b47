"""The environment for learning, with Gymnasium if it is installed and without."""

import math
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy

import windlass

try:
    import gymnasium
    from gymnasium.utils.env_checker import check_env
except ImportError:
    gymnasium = None

TWO = """
duration_s = 5
[dumbbell]
rate_mbps = 10
rtt_ms = 40
buffer_bdp = 1
[[flow]]
name = "one"
controller = "under-test"
transfer_bytes = 1_000_000
[[flow]]
name = "other"
controller = "under-test"
"""


def episode(env, actions, seed=1):
    """All that an episode gives."""
    seen = [env.reset(seed=seed)]
    for action in actions:
        seen.append(env.step(numpy.array([action], dtype=numpy.float32)))
        if seen[-1][2] or seen[-1][3]:
            break
    return seen


def equal(one, other):
    return len(one) == len(other) and all(
        numpy.array_equal(a[0], b[0]) and a[1:] == b[1:] for a, b in zip(one, other)
    )


class Environment(unittest.TestCase):
    def test_equal_seeds_and_actions_give_equal_episodes(self):
        actions = [math.sin(step) for step in range(50)]
        one, again = (episode(windlass.Env("random-loss"), actions) for _ in range(2))
        self.assertTrue(equal(one, again))
        self.assertFalse(equal(one, episode(windlass.Env("random-loss"), actions, seed=2)))
        self.assertFalse(equal(one, episode(windlass.Env("random-loss"), [0.0] * 50)))

    def test_the_window_is_the_one_asked_for(self):
        env = windlass.Env("clean-link", interval_ms=100)
        _, info = env.reset(seed=1)
        self.assertEqual(info["cwnd_packets"], 10.0)
        for action, window in [(1.0, 20.0), (1.0, 40.0), (-1.0, 20.0), (0.0, 20.0)]:
            observation, _, _, _, info = env.step([action])
            self.assertEqual((info["cwnd_packets"], observation[0]), (window, window))
        # Half a dozen intervals later the flight is the window, and the goodput the window a round trip.
        for _ in range(6):
            _, _, _, _, info = env.step([0.0])
        self.assertAlmostEqual(info["in_flight_packets"], 20, delta=1)
        expected = 20 * 1200 * 8e-3 / info["rtt_mean_ms"]
        self.assertAlmostEqual(info["goodput_mbps"], expected, delta=0.15 * expected)
        for _ in range(30):
            env.step([-1.0])
        self.assertEqual(env.step([-5.0])[4]["cwnd_packets"], 2.0)

    def test_a_larger_window_fills_the_link_and_then_the_queue(self):
        rewards = {}
        for packets in (4, 1024):
            env = windlass.Env("clean-link")
            env.reset(seed=1)
            for _ in range(8):
                env.step([1.0 if packets > 10 else -1.0])
            rewards[packets] = [env.step([0.0])[4] for _ in range(20)][-1]
        small, large = rewards[4], rewards[1024]
        self.assertLess(small["goodput_mbps"], 0.5 * large["goodput_mbps"])
        self.assertGreater(large["rtt_mean_ms"], 1.5 * small["rtt_mean_ms"])
        self.assertGreater(large["goodput_mbps"], 0.8 * large["rate_mbps"])

    def test_an_episode_ends_with_the_scenario_or_the_transfer(self):
        seen = episode(windlass.Env("clean-link", interval_ms=1000), [0.0] * 1000)
        self.assertEqual(seen[-1][2:4], (False, True))
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "two.toml"
            path.write_text(TWO)
            with self.assertRaisesRegex(windlass.UsageError, "2 flows of two are under test; expected flow= to be one of one, other"):
                windlass.Env(path)
            with self.assertRaisesRegex(windlass.UsageError, 'two has no flow "third"; expected flow= to be one of one, other'):
                windlass.Env(path, flow="third")
            env = windlass.Env(path, flow="one", controller="reno")
            seen = episode(env, [0.5] * 1000)
        self.assertEqual(seen[-1][2:4], (True, False))
        self.assertAlmostEqual(sum(info["acked_bytes"] for *_, info in seen), 1_000_000, delta=60_000)
        with self.assertRaisesRegex(windlass.Error, r"expected reset\(\) before step\(\)"):
            env.step([0.0])

    def test_each_reset_without_a_seed_takes_the_next(self):
        env = windlass.Env("random-loss", seed=7)
        self.assertEqual([env.reset()[1]["seed"] for _ in range(3)], [7, 8, 9])
        self.assertEqual(env.reset(seed=3)[1]["seed"], 3)
        self.assertEqual(env.reset()[1]["seed"], 4)

    def test_the_reward_is_what_is_asked_for(self):
        env = windlass.Env("clean-link", reward=lambda info: info["acked_packets"])
        env.reset(seed=1)
        _, reward, _, _, info = env.step([0.0])
        self.assertEqual(reward, info["acked_packets"])
        self.assertGreater(reward, 0)

    def test_many_run_at_once_and_none_disturbs_another(self):
        actions = [0.3] * 20
        alone = episode(windlass.Env("random-loss"), actions)
        envs = [windlass.Env("random-loss") for _ in range(3)]
        seen = [[env.reset(seed=1)] for env in envs]
        for action in actions:
            for env, so_far in zip(envs, seen):
                so_far.append(env.step(numpy.array([action], dtype=numpy.float32)))
        for one in seen:
            self.assertTrue(equal(one, alone))

    def test_arguments_that_cannot_work_are_errors(self):
        for arguments in ({"scenario": "clean-lnk"}, {"controller": "cubicc"}, {"interval_ms": 0}, {"interval_ms": math.nan}):
            with self.subTest(**arguments), self.assertRaises(windlass.UsageError):
                windlass.Env(**arguments)
        env = windlass.Env("clean-link")
        env.reset(seed=1)
        with self.assertRaisesRegex(windlass.UsageError, "not a number"):
            env.step([math.nan])

    @unittest.skipUnless(gymnasium, "Gymnasium is not installed")
    def test_gymnasiums_checker_finds_nothing(self):
        env = windlass.Env("random-loss")
        self.assertIsInstance(env, gymnasium.Env)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            check_env(env)
        serious = [str(one.message) for one in found if "infinity" not in str(one.message) and "spec" not in str(one.message)]
        self.assertEqual(serious, [])

    def test_it_is_the_same_without_gymnasium(self):
        program = """
import sys
sys.modules["gymnasium"] = None
import numpy, windlass
env = windlass.Env("random-loss")
observation, _ = env.reset(seed=1)
assert env.observation_space.contains(observation) and env.action_space.contains(env.action_space.sample())
total = sum(env.step([0.1])[1] for _ in range(20))
print(repr((type(env).__mro__[1].__module__, observation.tolist(), total)))
"""
        module, first, total = eval(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
        self.assertEqual(module, "windlass.spaces")
        env = windlass.Env("random-loss")
        observation, _ = env.reset(seed=1)
        self.assertEqual(observation.tolist(), first)
        self.assertEqual(sum(env.step([0.1])[1] for _ in range(20)), total)


if __name__ == "__main__":
    unittest.main()
